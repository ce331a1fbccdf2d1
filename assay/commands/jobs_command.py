"""assay jobs: list, create, pause, run and remove scheduled jobs."""

from typing import IO

import click

from assay.commands.loading import loading


@click.group("jobs")
def jobs_command() -> None:
    """Scheduled jobs. The service runs them; these commands also work while it is stopped.

    Example: assay jobs add hourly --every 3600 --sql "select chain, address from v_tokens"
    """


@jobs_command.command("list")
def list_all() -> None:
    """List all jobs with their last runs. Example: assay jobs list"""
    with loading():
        from assay.commands.runs.run_jobs import print_jobs  # noqa: PLC0415 - not for help and completion

    print_jobs()


@jobs_command.command()
@click.argument("name")
def show(name: str) -> None:
    """Show a job as JSON. Example: assay jobs show hourly"""
    with loading():
        from assay.commands.runs.run_jobs import print_job  # noqa: PLC0415 - not for help and completion

    print_job(name)


@jobs_command.command()
@click.argument("name")
def runs(name: str) -> None:
    """List the last runs of a job, a JSON line each. Example: assay jobs runs hourly"""
    with loading():
        from assay.commands.runs.run_jobs import print_runs  # noqa: PLC0415 - not for help and completion

    print_runs(name)


@jobs_command.command()
@click.argument("name")
@click.option(
    "--action",
    type=click.Choice(["refresh", "verify", "export"]),
    default="refresh",
    show_default=True,
    help="Action of the job.",
)
@click.option("--every", "every_s", type=int, help="Seconds from one run to the next.")
@click.option("--cron", help="Minute, hour, day of month, month, day of week.")
@click.option("--time-zone", default="UTC", show_default=True, help="Time zone of --cron.")
@click.option("--token", "tokens", multiple=True, help="Token as chain/address; may be repeated.")
@click.option("--sql", help="SELECT on the views with the columns chain and address.")
@click.option("--sql-file", type=click.File(encoding="utf-8"), help="File with that SELECT.")
@click.option(
    "--younger-than",
    "younger_than_s",
    type=int,
    default=0,
    help="Skip tokens with younger reports, in seconds.",
)
@click.option(
    "--view", "views", multiple=True, help="View to export; may be repeated.  [default: all]"
)
@click.option("--folder", help="Folder below jobs.export_folder.")
def add(sql: str | None, sql_file: IO[str] | None, **fields: object) -> None:
    """Create a job. Example: assay jobs add weekly --every 604800 --token eth/0x..."""
    with loading():
        from assay.commands.runs.run_jobs import make_job  # noqa: PLC0415 - not for help and completion

    make_job({**fields, "sql": sql_file.read() if sql_file else sql})


@jobs_command.command()
@click.argument("name")
def pause(name: str) -> None:
    """Start no run of a job until it is resumed. Example: assay jobs pause hourly"""
    with loading():
        from assay.commands.runs.run_jobs import set_paused  # noqa: PLC0415 - not for help and completion

    set_paused(name, is_paused=True)


@jobs_command.command()
@click.argument("name")
def resume(name: str) -> None:
    """Let a job run again. Example: assay jobs resume hourly"""
    with loading():
        from assay.commands.runs.run_jobs import set_paused  # noqa: PLC0415 - not for help and completion

    set_paused(name, is_paused=False)


@jobs_command.command()
@click.argument("name")
def run(name: str) -> None:
    """Request a run of a job from the service. Example: assay jobs run hourly"""
    with loading():
        from assay.commands.runs.run_jobs import request_run_now  # noqa: PLC0415 - not for help and completion

    request_run_now(name)


@jobs_command.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove a job with its runs. Example: assay jobs remove hourly"""
    with loading():
        from assay.commands.runs.run_jobs import drop_job  # noqa: PLC0415 - not for help and completion

    drop_job(name)
