"""Compiles Vyper sources in a separate process, as the compiler warns and keeps global state.

stdin: {"requests": [{"source", "optimise", "venom"}]}; stdout: a list of {"code"} or {"refused"}.
"""

import importlib
import json
import sys


def answer(request: dict[str, str | bool]) -> dict[str, str]:
    """The runtime code of one source as hex, or why there is none."""
    compiler = importlib.import_module("vyper.compiler")
    settings = importlib.import_module("vyper.compiler.settings")
    errors = importlib.import_module("vyper.exceptions")
    chosen = settings.Settings(
        optimize=settings.OptimizationLevel.from_string(request["optimise"]),
        experimental_codegen=request["venom"],
    )
    try:
        output = compiler.compile_code(
            request["source"], output_formats=["bytecode_runtime"], settings=chosen
        )
    except errors.VyperException as refusal:
        return {"refused": str(refusal)}
    return {"code": output["bytecode_runtime"]}


if __name__ == "__main__":
    json.dump([answer(each) for each in json.load(sys.stdin)["requests"]], sys.stdout)
