//! What is done to a server: loads of our own generator, a search for its capacity, an external load tool; and what needs
//! no server: microbenchmarks of JMH.

pub mod capacity;
pub mod external;
pub mod jmh;
pub mod load_plan;
pub mod order;
