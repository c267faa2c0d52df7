//! Findings: which ceiling was hit, with the evidence.
