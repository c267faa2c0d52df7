//! One run: launch, warm up, load and observe, stop → Record.
