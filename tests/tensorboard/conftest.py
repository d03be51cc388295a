import pytest

from tests.tensorboard import browser


@pytest.fixture(scope="session")
def chromium():
    with browser.chromium() as found:
        yield found
