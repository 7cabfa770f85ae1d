"""A language model that overlooks: it quotes one sentence a subquestion, and sees no clash."""

from adapters.models.extractive.assess import assess
from adapters.models.extractive.researcher import ExtractiveResearcher
from adapters.models.language.assessing import read_assessment
from adapters.models.language.forms import AnsweredForm, AssessForm, QuotedForm
from adapters.models.port import Answer, AssessInput, Assessment


class Overlooking(ExtractiveResearcher):
    """Works without a model, but for assessments: those are read as a model's answer is.

    Of the quotes that were found for a subquestion it names the `place`-th from the front, or from
    the back where that is negative, and calls it covered.
    """

    def __init__(self, place: int = 0) -> None:
        self._place = place

    async def assess(self, given: AssessInput) -> Answer[Assessment]:
        """Return what becomes of an answer that names one quote of each subquestion."""
        found = assess(given).selected
        answers = []
        for number, sub in enumerate(given.plan.subquestions, start=1):
            own = [item for item in found if item.subquestion_id == sub.id]
            kept = own[self._place :][:1]
            quotes = [QuotedForm(passage="", quote=item.text) for item in kept]
            answers.append(
                AnsweredForm(subquestion=f"q{number}", quotes=quotes, coverage="covered")
            )
        return Answer(read_assessment(AssessForm(answers=answers), given))
