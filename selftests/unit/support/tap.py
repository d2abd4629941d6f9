# SPDX-License-Identifier: GPL-2.0-only
"""Lines of TAP for the tests in Python: one for each function that is run."""
import sys

number = failed = 0


def result(name, test, *how, skip=''):
    """Run a test and print its line; @skip: why it is not run."""
    global number, failed
    number += 1
    if skip:
        print(f'ok {number} - {name} # SKIP {skip}', flush=True)
        return
    try:
        test(*how)
        print(f'ok {number} - {name}', flush=True)
    except Exception as e:      # pylint: disable=broad-except
        failed = 1
        print(f'not ok {number} - {name}\n# {type(e).__name__}: {e}'.replace(
            '\n#', '\n# '), flush=True)


def equal(a, b):
    assert a == b, f'{a!r:.600} is not {b!r:.600}'


def end():
    """Print the plan, and end with the exit status."""
    print(f'1..{number}')
    sys.exit(failed)
