class CodeLock:
    def __init__(self):
        self.entered = ""

    def press(self, key):
        self.entered += key

    def state(self):
        return "open" if self.entered.endswith("2580") else "closed"
