"""Makes the documents' pictures of the viewer from a real training run, in a real TensorBoard.

    make demo                        # trains, and writes runs/demo
    python -m docs.make_pictures     # docs/tensorboard.png, docs/tensorboard-difference.png, docs/neurons.png

Needs chromium. In its sentence the verb moves to the end: English has it in the middle, Turkish last.
"""

import argparse
from pathlib import Path
from urllib.parse import quote, urlencode

import zoo
from tests.tensorboard.browser import Watched, chromium, ready, tensorboard

DOCS = Path(__file__).parent
SENTENCE = "the cat sat on the mat"


def shoot(page, frame, path):
    """The viewer's panels as a picture."""
    page.set_viewport_size({"width": 1500, "height": 80 + int(frame.evaluate("document.body.scrollHeight"))})
    ready(frame)
    page.screenshot(path=path)
    print(f"saved {path}")


def main(settings):
    with tensorboard(settings.logdir, fast=True) as address, chromium() as browser:
        for name, state in {
            "tensorboard": {"kind": "cross", "tag": settings.tag},
            "tensorboard-difference": {
                "kind": "cross", "tag": settings.tag, "other": "demo", "otherStep": "0", "view": "difference"
            },
        }.items():  # fmt: skip
            page = browser.new_page(viewport={"width": 1500, "height": 900})
            page.goto(f"{address}#attention&p.attention.view={quote(urlencode(state), safe='')}")
            shoot(page, Watched(page, address).viewer(), DOCS / f"{name}.png")
            page.close()
        text = zoo.load(Path(settings.logdir) / "demo" / "model")
        text.attend(SENTENCE, vectors=True, occlude=True).html(Path(settings.logdir) / "view.html")
        page = browser.new_page(viewport={"width": 1500, "height": 900})
        page.goto((Path(settings.logdir) / "view.html").resolve().as_uri())
        frame = ready(page.main_frame)
        frame.get_by_role("region", name="Neurons").screenshot(path=DOCS / "neurons.png")
        print(f"saved {DOCS / 'neurons.png'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logdir", default="runs", help="folder with the run of `make demo` in it")
    parser.add_argument("--tag", default="attention/01", help="which sentence of the run")
    main(parser.parse_args())
