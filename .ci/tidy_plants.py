"""The self-test of tidy: a small clean tree, and one planted violation of each check."""

import pathlib
import tempfile

CLEAN = {
    "meson.build": "subdir('engine')\nsubdir('contracts')\n",
    "README.md": "A tree.\n",
    "engine/meson.build": "engine_tests = ['a']\nstatic_library('lapse', 'a.c')\n",
    "engine/include/lapse/lapse.h": "/* Face. */\nint lapse_a(void);\n",
    "engine/a.c": "/* Why. */\n#include \"lapse/lapse.h\"\n\nint lapse_a(void) {\n"
                  "    return 1;\n}\n",
    "engine/a_test.c": "/* Why. */\n#include \"lapse/lapse.h\"\n",
    "contracts/meson.build": "static_library('contracts', 'b.c')\n",
    "contracts/b.c": "/* Why. */\n#include <string.h>\n",
    "scenarios/meson.build": "static_library('scenarios', 'load.c')\n",
    "scenarios/load.c": "/* Why. */\n#include <string.h>\n",
    "scenarios/suites/keys/k.yaml": "# Without it nobody sees that a key lives on.\nname: k\n",
    "sim/cli/meson.build": "cli_sources = files('run.c')\n",
    "sim/cli/run.c": "/* Why. */\n",
}

C = CLEAN["engine/a.c"]
# check, file, whole text of the file that holds the violation
PLANTS = [
    ("top", "tools/x.txt", "one more folder\n"),
    ("file-length", "engine/a.c", C + "\n" * 800),
    ("columns", "engine/a.c", C + "/* " + "x" * 100 + " */\n"),
    ("build-file", "engine/meson.build", CLEAN["engine/meson.build"] + "# more\n" * 60),
    ("command", "sim/cli/run.c", "/* Why. */\n" + "int x;\n" * 150),
    ("function", "engine/a.c", C + "\nstatic int b(int x,\n             int y) {\n"
     + "    x++;\n" * 70 + "}\n"),
    ("function", "engine/a.c", C + "\nTest(a, b) {\n" + "    x++;\n" * 70 + "}\n"),
    ("opening", "engine/a.c", C.replace("/* Why. */\n", "")),
    ("comment", "engine/a.c", C + "// short\n"),
    ("float", "engine/a.c", C + "static const double half = 0.5;\n"),
    ("feature", "engine/a.c", "/* Why. */\n#define _GNU_SOURCE 1\n"),
    ("blanks", "engine/a.c", C + "\tint x;\n"),
    ("machine-path", "engine/a.c", C + "/* See /" + "home/me/notes. */\n"),
    ("machine-path", "README.md", "Clone it to /" + "root/lapse.\n"),
    ("unfinished", "engine/a.c", C + "/* TO" + "DO: the rest. */\n"),
    ("upward", "contracts/b.c", "/* Why. */\n#include \"../engine/a.h\"\n"),
    ("layer", "contracts/b.c", "/* Why. */\n#include \"lapse/lapse.h\"\n"),
    ("layer", "engine/a.c", "/* Why. */\n#include \"contracts/history.h\"\n"),
    ("layer", "scenarios/load.c", "/* Why. */\n#include \"sim/world.h\"\n"),
    ("layer", "engine/a.c", "/* Why. */\n#include \"elsewhere.h\"\n"),
    ("quarantine", "engine/a.c", "/* Why. */\n#include <libfyaml.h>\n"),
    ("quarantine", "engine/a.c", "/* Why. */\n#include <time.h>\n"),
    ("dead", "engine/c.c", "/* Why. */\n"),
    ("dead", "contracts/b_test.c", "/* Why. */\n"),
    ("dead", "engine/d.h", "/* Why. */\n"),
    ("document", "scenarios/suites/keys/k.yaml",
     CLEAN["scenarios/suites/keys/k.yaml"] + "---\n" + CLEAN["scenarios/suites/keys/k.yaml"]
     + "about: x\n" * 50),
    ("reason", "scenarios/suites/keys/k.yaml",
     CLEAN["scenarios/suites/keys/k.yaml"] + "---\nname: no reason given\n"),
]


def findings(review, files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return review(folder).found


def self_test(review):
    """TAP: the clean tree yields nothing, each plant yields its own check and no other."""
    print("1..%d" % (len(PLANTS) + 1))
    found = findings(review, CLEAN)
    bad = len(found)
    print("%sok 1 - a clean tree yields nothing%s" % ("not " if found else "", found or ""))
    for number, (check, name, text) in enumerate(PLANTS, 2):
        found = findings(review, {**CLEAN, name: text})
        good = bool(found) and {(f[0], f[2]) for f in found} <= {(name, check), ("tools", check)}
        bad += not good
        print("%sok %d - %s planted in %s is found" % ("" if good else "not ", number, check, name))
        if not good:
            print("# found instead: %s" % found)
    return 1 if bad else 0
