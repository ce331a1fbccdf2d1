"""Waiting for inquiries that other processes work on."""

from collections.abc import Sequence

from assay.service.fleet.row_poller import RowPoller
from sql.fleet.inquiries import Inquiries


class InquiryPoller(RowPoller[int, bytes]):
    """Who waits for answers to inquiries. For one event loop."""

    def __init__(self, inquiries: Inquiries) -> None:
        def read(asked: Sequence[int]) -> dict[int, bytes]:
            return {one.inquiry: one.answer for one in inquiries.answers(asked)}

        super().__init__(read, what="answers to inquiries")

    async def wait(self, inquiry: int) -> bytes:
        """Return the answer, however long it takes."""
        answer = await self.until(inquiry, lambda found: found is not None)
        assert answer is not None  # noqa: S101 - `until` ends with a row that is not None
        return answer
