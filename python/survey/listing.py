"""Which hooks there are, of which package, with leave to do what; and how the hook of a package is found."""

import ast
import os

HOOKS = {}  # name -> (package, leave, module)


def hook(package, module):
    """A decorator of makers: `@of_it("fail")` has leave to fail, beside that to stop the training."""

    def with_leave(*leave):
        def add(maker):
            HOOKS[maker.__name__] = (package, leave, module)
            return maker

        return add

    return with_leave


def from_source(path, *names, **scope):
    """The classes and functions of these names, as the file of a package that is unpacked below VIGIL_SURVEY has them.

    Nothing else of the file is executed: most of these packages want others that nobody can install any more. What
    the text needs of its module is `scope`.
    """
    where = os.path.join(os.environ["VIGIL_SURVEY"], path)
    with open(where, encoding="utf-8") as file:
        parsed = ast.parse(file.read(), where)
    parsed.body = [node for node in parsed.body if getattr(node, "name", None) in names]
    if len(parsed.body) < len(names):
        raise LookupError(f"{path} has not all of {names}")
    exec(compile(parsed, where, "exec"), scope)
    return scope[names[-1]]
