"""Cache of learned layouts; bounded, as senders of logs choose the lengths."""

from collections import OrderedDict

from indexer.decode.byte_layouts import ByteLayout
from indexer.decode.layout_lessons import learn

MOST_OF_A_LENGTH = 12
MOST_LAYOUTS = 512

_LESSONS = 8
"""Lessons per answer, whatever its size."""
_LOGS_A_LESSON = 64
"""Logs per additional lesson: a lesson costs as much as a hundred logs in the general decoder."""


class LayoutCache:
    """Known layouts by length of the object, last used first. Not for concurrent use."""

    def __init__(self) -> None:
        self._by_length: OrderedDict[int, list[ByteLayout]] = OrderedDict()
        self._lessons_left = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def begin_answer(self, logs: int) -> None:
        """Grant the lessons of an answer with this number of logs."""
        self._lessons_left = _LESSONS + logs // _LOGS_A_LESSON

    def of_length(self, width: int) -> tuple[ByteLayout, ...]:
        """Return the layouts of objects of this length."""
        known = self._by_length.get(width)
        if known is None:
            return ()
        self._by_length.move_to_end(width)
        return tuple(known)

    def note_use(self, width: int, layout: ByteLayout) -> None:
        """Move a layout to the front of its length."""
        known = self._by_length[width]
        if known[0] is not layout:
            known.remove(layout)
            known.insert(0, layout)

    def learn(self, text: bytes) -> ByteLayout | None:
        """Learn from an object that no layout fits. None: it cannot be learned, or no lessons are
        left."""
        if self._lessons_left <= 0:
            return None
        self._lessons_left -= 1
        layout = learn(text)
        if layout is not None:
            self._keep(len(text), layout)
        return layout

    def _keep(self, width: int, layout: ByteLayout) -> None:
        known = self._by_length.setdefault(width, [])
        known.insert(0, layout)
        self._count += 1
        if len(known) > MOST_OF_A_LENGTH:
            known.pop()
            self._count -= 1
        self._by_length.move_to_end(width)
        while self._count > MOST_LAYOUTS:
            _, dropped = self._by_length.popitem(last=False)
            self._count -= len(dropped)
