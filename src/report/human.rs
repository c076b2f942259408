//! What a person reads: what was set up, what came out, the timeline, why, and how to see it again.

use super::summary::{
    beyond, bounds, deepest, explored, faults_of, found, loud, reason, sealed, swarmed,
};
use super::survivors::told;
use super::table;
use super::timeline::Mark;
use super::{
    CheckReport, Entry, Execution, Line, Listing, MarginReport, MatrixReport, OwnParts, Report,
    ShardReport, Spoken, Verb, VerifyReport, everything, one_screen, set_up, why,
};
use anstyle::{AnsiColor, Style};
use comfy_table::{Table, presets};
use evidence::Judgement;
use explore::Met;
use scenarios::Scenario;
use scenarios::file::ExpectedVerdict;
use std::fmt::{self, Display};
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const FAULT: Style = AnsiColor::Yellow.on_default();
const EFFECT: Style = AnsiColor::Cyan.on_default();
const FAINT: Style = Style::new().dimmed();

/// Where what was set up stands, right of the name.
const MARGIN: usize = 20;
/// Where "as expected" stands, right of the verdict.
const REMARK: usize = 71;

/// Writes with colours; a writer that strips them is the caller's choice.
pub struct Human<W> {
    out: W,
    verb: Verb,
    own: OwnParts,
    empty: bool,
    /// Margins that will be a table.
    margins: Vec<[String; 4]>,
}

impl<W: Write> Human<W> {
    /// Writes to `out`.
    pub const fn new(out: W, verb: Verb) -> Self {
        Human {
            out,
            verb,
            own: OwnParts {
                guard: false,
                handler: false,
                downstream: false,
            },
            empty: true,
            margins: Vec::new(),
        }
    }

    /// Tells of executions with parts that a test brought along.
    pub const fn with_parts(mut self, own: OwnParts) -> Self {
        self.own = own;
        self
    }

    /// A blank line between results.
    fn next(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.empty) {
            writeln!(self.out)?;
        }
        Ok(())
    }

    fn header(&mut self, name: &str, scenario: &Scenario) -> io::Result<()> {
        let pad = MARGIN.saturating_sub(name.width() + 2) + 2;
        let bold = Style::new().bold();
        writeln!(
            self.out,
            "{bold}{name}{bold:#}{:pad$}{}",
            "",
            set_up(scenario, self.own)
        )?;
        if let Some(source) = &scenario.source {
            let margin = name.width() + pad;
            writeln!(self.out, "{:margin$}source: {source}", "")?;
        }
        writeln!(self.out)
    }

    fn timeline(&mut self, entries: &[Entry]) -> io::Result<()> {
        let lines = || {
            entries.iter().filter_map(|entry| match entry {
                Entry::Line(line) => Some(line),
                Entry::Gap(_) => None,
            })
        };
        let who = lines().map(|line| line.who.width()).max().unwrap_or(0);
        let what = lines().map(|line| line.what.width()).max().unwrap_or(0);
        let dated = lines().any(|line| lines().next().is_some_and(|first| !same_day(first, line)));
        for entry in entries {
            match entry {
                Entry::Line(line) => self.line(line, who, what, dated)?,
                Entry::Gap(count) => writeln!(self.out, "   {FAINT}... {count} more{FAINT:#}")?,
            }
        }
        writeln!(self.out)
    }

    fn line(&mut self, line: &Line, who: usize, what: usize, dated: bool) -> io::Result<()> {
        let style = match line.mark {
            Mark::None => Style::new(),
            Mark::Effect => EFFECT,
            Mark::Fault => FAULT,
        };
        let moment = line.at.to_string();
        let date = match moment.get(5..10) {
            Some(date) if dated => format!("{date} "),
            _ => String::new(),
        };
        let text = format!(
            " {} {date}{}  {}{:who_pad$}  {}{:what_pad$}  {}",
            line.mark,
            line.at.clock(),
            line.who,
            "",
            line.what,
            "",
            line.detail,
            who_pad = who - line.who.width(),
            what_pad = what - line.what.width(),
        );
        writeln!(self.out, "{style}{}{style:#}", text.trim_end())
    }

    fn verdict(&mut self, verdict: &Headline, remark: Option<(Style, &str)>) -> io::Result<()> {
        let text = verdict.to_string();
        let style = verdict.style;
        match remark {
            Some((remark_style, remark)) => {
                let pad = REMARK.saturating_sub(text.width() + 4) + 2;
                writeln!(
                    self.out,
                    "  {style}{text}{style:#}{:pad$}{remark_style}{remark}{remark_style:#}",
                    ""
                )
            }
            None => writeln!(self.out, "  {style}{text}{style:#}"),
        }
    }

    fn labelled(&mut self, label: &str, text: impl Display) -> io::Result<()> {
        writeln!(self.out, "  {label:<8} {text}")
    }

    /// One margin with the execution that shows it.
    fn margin_story(&mut self, report: &MarginReport<'_>) -> io::Result<()> {
        let margin = report.margin;
        let text = format!("{}: {}", margin.dimension, report.sentence());
        let style = match &margin.curve {
            Some(curve) if curve.points().all(|(_, answer)| !answer.failure) => GOOD,
            Some(_) => BAD,
            None => FAULT,
        };
        self.verdict(&Headline { style, text }, None)?;
        if let Some(own) = margin.own_ms {
            writeln!(self.out, "  the scenario says {}", Spoken(own))?;
        }
        writeln!(self.out)?;
        if let Some((_, example)) = &report.example {
            self.story(example)?;
        }
        self.labelled("Asked", report.asked())
    }

    /// The margins that were held back to be one table.
    fn margin_table(&mut self) -> io::Result<()> {
        if self.margins.is_empty() {
            return Ok(());
        }
        let mut table = aligned(["of", "says", "margin", "worst at"]);
        for row in self.margins.drain(..) {
            table.add_row(row);
        }
        writeln!(self.out, "{}", finished(table))
    }

    /// Timeline, reason and the line that shows it again.
    fn story(&mut self, execution: &Execution<'_>) -> io::Result<()> {
        let entries = match self.verb {
            Verb::Replay => everything(execution),
            _ => one_screen(execution),
        };
        self.timeline(&entries)?;
        self.labelled("Why", why(execution))?;
        match execution.replay() {
            Some(command) => self.labelled("Replay", command),
            None => Ok(()),
        }
    }
}

/// A table of plain columns.
fn aligned<const COLUMNS: usize>(header: [&str; COLUMNS]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(header);
    table
}

fn finished(mut table: Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}

fn same_day(one: &Line, other: &Line) -> bool {
    const DAY: i64 = 86_400_000;
    one.at.0.div_euclid(DAY) == other.at.0.div_euclid(DAY)
}

/// The verdict in one line.
struct Headline {
    style: Style,
    text: String,
}

impl Display for Headline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Headline {
    fn of(judgement: &Judgement, faults: usize) -> Self {
        let layer = match &judgement.layer {
            Some(layer) => format!(" at layer {layer}"),
            None => String::new(),
        };
        let faults = faults_of(faults);
        Headline {
            style: if judgement.failure { BAD } else { GOOD },
            text: format!("{}{layer}, {faults}", loud(judgement.verdict)),
        }
    }

    /// Of a check that found nothing to show.
    fn of_nothing_found(report: &CheckReport<'_>) -> Self {
        let holds = match report.expected() {
            ExpectedVerdict::Holds => "HOLDS",
            ExpectedVerdict::Is(_) => "EXACTLY ONCE",
        };
        let checked = report.checked;
        let exhausted = checked.explored.spaces.iter().all(|each| each.exhausted);
        let text = match (exhausted, checked.explored.spaces.is_empty()) {
            (true, true) => format!("{holds} under this plan"),
            (true, false) if deepest(report) == 0 => {
                format!("{holds} as long as nothing goes wrong")
            }
            (true, false) => format!("{holds} under every plan of up to {}", bounds(report)),
            (false, _) => "nothing found so far".to_owned(),
        };
        let sure = exhausted && !matches!(checked.met, Met::Inconclusive(_));
        Headline {
            style: if sure { GOOD } else { FAULT },
            text,
        }
    }
}

impl<W: Write> Report for Human<W> {
    fn listing(&mut self, listing: &[Listing]) -> io::Result<()> {
        let mut table = aligned(["name", "expected", "layer", "topology", "guard", "source"]);
        for line in listing {
            table.add_row([
                &line.name,
                line.expected,
                line.layer.as_deref().unwrap_or("-"),
                line.topology,
                line.guard,
                line.source.as_deref().unwrap_or("-"),
            ]);
        }
        writeln!(self.out, "{}", finished(table))
    }

    fn execution(&mut self, execution: &Execution<'_>) -> io::Result<()> {
        self.next()?;
        self.header(&execution.scenario.name, execution.scenario)?;
        let headline = Headline::of(execution.judgement, execution.plan.faults.len());
        self.verdict(&headline, None)?;
        writeln!(self.out)?;
        self.story(execution)?;
        let slots = &execution.judgement.slots;
        if slots.len() > 1 {
            let cast = &execution.history.cast;
            let named = slots
                .iter()
                .map(|slot| format!("{} {}", cast.slot(slot.slot), slot.verdict));
            let named: Vec<String> = named.collect();
            self.labelled("Slots", named.join(", "))?;
        }
        Ok(())
    }

    fn check(&mut self, report: &CheckReport<'_>) -> io::Result<()> {
        self.next()?;
        self.header(&report.scenario.name, report.scenario)?;
        let remark = match report.checked.met {
            Met::Yes => (GOOD, "as expected"),
            Met::No(_) => (BAD, "NOT as expected"),
            Met::Inconclusive(_) => (FAULT, "inconclusive"),
        };
        let headline = match &report.example {
            Some(example) => Headline::of(example.judgement, example.plan.faults.len()),
            None => Headline::of_nothing_found(report),
        };
        self.verdict(&headline, Some(remark))?;
        if let Some(reason) = reason(report) {
            writeln!(self.out, "  {reason}")?;
        }
        writeln!(self.out)?;
        if let Some(example) = &report.example {
            self.story(example)?;
        }
        for (place, line) in report.survivors.map(told).into_iter().flatten().enumerate() {
            self.labelled(if place == 0 { "Stops it" } else { "" }, line)?;
        }
        self.labelled("Explored", explored(report))?;
        if let Some(beyond) = report.checked.next.as_ref().and_then(beyond) {
            self.labelled("Beyond", beyond)?;
        }
        if let Some(swarm) = &report.beyond {
            self.labelled("Beyond", swarmed(swarm))?;
            for find in &swarm.finds {
                self.labelled("", found(find))?;
            }
        }
        if let (Some(path), Some(claim)) = (report.sealed_in, report.claim) {
            self.labelled("Sealed", sealed(path, claim))?;
        }
        self.out.flush()
    }

    fn matrix(&mut self, matrix: &MatrixReport<'_>) -> io::Result<()> {
        table::write(&mut self.out, matrix)
    }

    fn shard(&mut self, shard: &ShardReport<'_>) -> io::Result<()> {
        let ShardReport {
            scenario,
            shard,
            file,
            plans,
            cut,
        } = shard;
        let state = match cut {
            None => "done".to_owned(),
            Some(cut) => format!("not done yet ({cut})"),
        };
        writeln!(
            self.out,
            "{scenario}: shard {shard} {state}, {plans} plans in {file}"
        )?;
        self.out.flush()
    }

    fn verified(&mut self, verified: &VerifyReport<'_>) -> io::Result<()> {
        self.next()?;
        let (style, word) = match verified.mismatch {
            None => (GOOD, "VERIFIED"),
            Some(_) => (BAD, "NOT VERIFIED"),
        };
        let bold = Style::new().bold();
        let name = &verified.claim.scenario;
        writeln!(self.out, "{bold}{name}{bold:#}: {}", verified.claimed())?;
        writeln!(self.out, "  {style}{word}{style:#}  {}", verified.found())?;
        self.out.flush()
    }

    fn margin(&mut self, report: &MarginReport<'_>) -> io::Result<()> {
        let first = self.empty;
        if first || !report.of_all {
            self.next()?;
        }
        if first {
            self.header(&report.scenario.name, report.scenario)?;
        }
        if !report.of_all {
            return self.margin_story(report);
        }
        let own = report.margin.own_ms;
        self.margins.push([
            report.margin.dimension.to_string(),
            own.map_or("-".to_owned(), |own| Spoken(own).to_string()),
            report.sentence(),
            report.worst_at(),
        ]);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.margin_table()?;
        self.out.flush()
    }
}
