//! The screen in a terminal, until the user leaves or the JVM ends. The terminal is restored afterwards, even after a panic.

use super::draw::draw;
use super::limits::Judge;
use super::screen::Screen;
use super::time_limit::TimeLimit;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyModifiers};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;
use threadcount_machine::halt::Halt;
use threadcount_machine::probe::line::Line;

/// The longest delay before keys and signals take effect.
const REACTION: Duration = Duration::from_millis(100);

/// Shows the lines that arrive through the channel; a closed channel means that the JVM has ended. Returns when the user leaves, `stop` is
/// set, or the time is over.
///
/// # Errors
/// The error of the terminal.
pub fn show(
    screen: &mut Screen,
    judge: &mut Judge,
    lines: &Receiver<Line>,
    stop: &AtomicBool,
    limit: &mut TimeLimit,
) -> io::Result<()> {
    let mut terminal = ratatui::try_init()?;
    let shown = (|| {
        while !stop.load(Ordering::Relaxed) && !limit.is_over() {
            take(screen, judge, lines, limit);
            terminal.draw(|frame| draw(screen, frame))?;
            if event::poll(REACTION)? && is_leaving(&event::read()?) {
                break;
            }
        }
        Ok(())
    })();
    // Restored even if drawing failed.
    ratatui::try_restore().and(shown)
}

/// Takes in every line that has arrived, and a new judgement if it is due.
pub fn take(screen: &mut Screen, judge: &mut Judge, lines: &Receiver<Line>, limit: &mut TimeLimit) {
    loop {
        match lines.try_recv() {
            Ok(line) => {
                judge.add(&line);
                screen.read(line);
            }
            Err(TryRecvError::Empty) => break,
            Err(TryRecvError::Disconnected) => {
                screen.ended = true;
                break;
            }
        }
    }
    if screen.sample.is_some() {
        limit.begin();
    }
    if let Some(limits) = judge.judge() {
        screen.limits = limits;
        if let Some(halt) = Halt::find(screen.pid) {
            screen.problems.add("new figures".to_owned(), halt.to_string());
        }
    }
}

/// Ctrl-C is included because raw mode delivers it as a key.
fn is_leaving(event: &Event) -> bool {
    let Event::Key(KeyEvent { code, modifiers, .. }) = event else { return false };
    match code {
        KeyCode::Char('q') | KeyCode::Esc => true,
        KeyCode::Char('c') => modifiers.contains(KeyModifiers::CONTROL),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_escape_and_ctrl_c_leave() {
        let key = |code, modifiers| is_leaving(&Event::Key(KeyEvent::new(code, modifiers)));
        assert!(key(KeyCode::Char('q'), KeyModifiers::NONE) && key(KeyCode::Esc, KeyModifiers::NONE));
        assert!(key(KeyCode::Char('c'), KeyModifiers::CONTROL));
        assert!(!key(KeyCode::Char('c'), KeyModifiers::NONE));
        assert!(!is_leaving(&Event::Resize(80, 24)));
    }

    #[test]
    fn a_closed_channel_means_that_the_jvm_has_ended() {
        let (sender, lines) = std::sync::mpsc::channel();
        let mut screen = Screen::new(7);
        let mut judge = Judge::of_process(std::process::id());
        let mut limit = TimeLimit::new(None);
        take(&mut screen, &mut judge, &lines, &mut limit);
        assert!(!screen.ended);
        drop(sender);
        take(&mut screen, &mut judge, &lines, &mut limit);
        assert!(screen.ended);
    }
}
