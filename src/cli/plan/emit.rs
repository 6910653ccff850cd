//! `--emit`: schedules in the form that an engine takes, and nothing else.

use crate::cli::args::plan::PlanArgs;
use crate::cli::error::Error;
use crate::cli::terminal;
use crate::plan::verdict::Answer;
use crate::report::plan::schedule::{Schedule, document as schedule_document, schedules};
use crate::report::plan::{Planned, engines};
use crate::words::ScheduleForm;

/// Prints the schedules, one bare or several with their labels.
pub(super) fn emit(args: &PlanArgs, planned: &Planned<'_, '_>, form: ScheduleForm) -> Result<(), Error> {
    if form == ScheduleForm::Json {
        return terminal::print(format!("{:#}\n", schedule_document(planned)).as_bytes());
    }
    let all = schedules(planned);
    let drafting: Vec<&Schedule<'_, '_, '_>> = all.iter().filter(|schedule| schedule.drafts()).collect();
    if drafting.is_empty() {
        return Err(Error::CannotRun(
            "at no batch does drafting pay: leave speculation off, there is no schedule to emit".to_owned(),
        ));
    }
    let form_of = |schedule: &Schedule<'_, '_, '_>| match form {
        ScheduleForm::Vllm => engines::vllm(schedule).map(|value| format!("{value}\n")),
        ScheduleForm::Sglang => engines::sglang(schedule).map(|config| engines::by_line(&config)),
        _ => engines::trtllm(schedule),
    };
    let made: Vec<(&Schedule<'_, '_, '_>, Option<String>)> =
        all.iter().map(|schedule| (schedule, if schedule.drafts() { form_of(schedule) } else { None })).collect();
    if made.iter().all(|(_, form)| form.is_none()) {
        let kinds: Vec<&str> =
            drafting.iter().map(|of| of.along.here.candidate.drafter.source.kind().as_str()).collect();
        return Err(Error::Usage(format!(
            "--emit {form}: it has no k-by-batch form for such drafters ({}); --emit json has all",
            kinds.join(", ")
        )));
    }
    terminal::print(engines::joined(form, &made).as_bytes())?;
    if !args.common.quiet {
        engines::remarks(form, &made).iter().for_each(|line| terminal::note(line));
        for seen in planned.cases().filter(|seen| seen.case.verdict.answer != Answer::Enable) {
            terminal::note(&format!("the verdict of {}: {}", seen.heading(), seen.lines()[0].says));
        }
    }
    Ok(())
}
