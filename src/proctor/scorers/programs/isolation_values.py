"""What a Python test does with values of the answer that may be objects and no plain data."""

import ast

MOST_CALLS = 5000
"""Rounds of a loop beyond which every call by a socket would take too long."""
COMPARING = ("assertEqual", "assertNotEqual", "assertGreater", "assertGreaterEqual", "assertLess",
             "assertLessEqual", "assertAlmostEqual", "assertCountEqual")  # fmt: skip
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, *COMPREHENSIONS)


def mixed_comparison(tree: ast.Module, own: set[str]) -> str:
    """Say where an instance of the answer's class is compared with plain data.

    By convention names of classes begin with a capital letter. Such an instance stays in the
    answer's process, and what it is compared with must not be shown to it.
    """
    classes = {name for name in own if name[:1].isupper() and not name.isupper()}
    if not classes:
        return ""
    instances = _Instances(classes)
    for _ in range(3):
        instances.visit(tree)
    for node in ast.walk(tree):
        pair: list[ast.expr] = []
        if isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.Is | ast.IsNot):
            contained = isinstance(node.ops[0], ast.In | ast.NotIn)
            pair = [] if contained else [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            pair = node.args[:2] if node.func.attr in COMPARING else []
        kinds = {instances.is_one(part) for part in pair if not _is_none(part)}
        if len(kinds) == 2:
            return "it compares an object of the answer's class with plain data"
    return ""


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


class _Instances(ast.NodeVisitor):
    """The variables of a test that hold instances of the answer's classes."""

    def __init__(self, classes: set[str]) -> None:
        self.classes = classes
        self.names: set[str] = set()
        self.attributes: set[str] = set()

    def is_one(self, node: ast.expr) -> bool:
        """Tell whether an expression is an instance."""
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id in self.classes
        if isinstance(node, ast.BinOp):
            return self.is_one(node.left) or self.is_one(node.right)
        if isinstance(node, ast.UnaryOp):
            return not isinstance(node.op, ast.Not) and self.is_one(node.operand)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            # A member of the answer's enumeration, or what a test case keeps for its methods.
            return node.value.id in self.classes or (
                node.value.id == "self" and node.attr in self.attributes
            )
        return isinstance(node, ast.Name) and node.id in self.names

    def visit_Assign(self, node: ast.Assign) -> None:
        """Note the variables that are bound to an instance."""
        if not self.is_one(node.value):
            return
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.names.add(target.id)
            elif isinstance(target, ast.Attribute):
                self.attributes.add(target.attr)


def loops_too_often(tree: ast.Module, own: set[str]) -> str:
    """Say where a loop calls the answer very often."""
    waiting: list[tuple[ast.AST, float]] = [(tree, 1.0)]
    while waiting:
        node, rounds = waiting.pop()
        if isinstance(node, ast.For):
            rounds *= _largest(node.iter)
        elif isinstance(node, COMPREHENSIONS):
            for part in node.generators:
                rounds *= _largest(part.iter)
        if rounds > MOST_CALLS and isinstance(node, ast.Name) and node.id in own:
            return f"it calls the answer more than {MOST_CALLS:,} times"
        waiting += [(child, rounds) for child in ast.iter_child_nodes(node)]
    return ""


def _largest(node: ast.expr) -> float:
    """Return the largest number in what a loop goes over, which is how often it goes round."""
    numbers = [1.0]
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow | ast.Mult):
            left, right = _number(part.left), _number(part.right)
            power = isinstance(part.op, ast.Pow)
            numbers.append(left ** min(right, 20.0) if power else left * right)
        else:
            numbers.append(_number(part))
    return max(numbers)


def _number(node: ast.AST) -> float:
    value = node.value if isinstance(node, ast.Constant) else None
    return float(min(value, 10**9)) if type(value) is int and value > 0 else 1.0
