//! Histograms and series as files that other tools read: .hgrm, .hlog, CSV.
