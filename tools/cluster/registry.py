"""The checks of a module, in the order in which they are written."""


class Checks(list):
    """`@CHECKS.add` above a function makes it one of them."""

    def add(self, function):
        self.append(function)
        return function
