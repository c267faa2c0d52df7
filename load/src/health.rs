//! Was the generator the bottleneck? Its own CPU and lateness, judged.
