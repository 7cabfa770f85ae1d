"""The pages of a run: what whoever decides on its plan is told of what was asked for."""

from pathlib import Path

from flows.asked import asked_for
from flows.code_runs import submit_code
from flows.pages import plan_page, plan_to_decide
from tests.flows.code_world import CodeWorld
from tests.flows.world import annex, queued


def test_sources_scope_model_and_limits_of_research_are_told(tmp_path: Path) -> None:
    desk = annex(tmp_path / "home").desk()
    queued(desk, scope="quick", limits={"max_cost_micro_usd": 1_500_000})

    asked = asked_for(desk.ledger.project("r1"))

    assert asked["Folders and files"] == "/world"
    assert asked["Scope"] == "quick"
    assert asked["Model"] == "extractive: the built-in researcher, no language model"
    assert asked["Limits"].startswith("rounds 1 · queries a round 3 · ")
    assert asked["Limits"].endswith(" · US$ 1.50")
    assert "Web read" not in asked


def test_where_the_web_may_be_read_is_told(tmp_path: Path) -> None:
    desk = annex(tmp_path / "home").desk()
    queued(desk, search_providers=("arxiv", "openalex"), allowed_origins="any")

    asked = asked_for(desk.ledger.project("r1"))

    assert asked["Web searched with"] == "arxiv, openalex"
    assert asked["Web read"] == "everywhere"


def test_source_folder_model_and_limits_of_code_are_told(tmp_path: Path) -> None:
    world = CodeWorld(tmp_path / "home")
    desk = world.desk()
    run = submit_code(desk, world.request())

    asked = asked_for(run)
    shown = plan_to_decide(desk, run)

    assert asked["Source"] == str(world.source)
    assert asked["Folder for the code"] == str(world.workspace)
    assert asked["Model"] == "scripted"
    assert "files 60" in asked["Limits"]
    assert asked["Limits"].endswith("US$ without a limit")
    assert "- **Model:** scripted" in shown
    assert plan_page(desk, run) is None  # before there is a plan
