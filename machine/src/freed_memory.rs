//! Memory that was freed and will be needed again.

/// What glibc keeps of it: the histograms of a share are larger than what it gives back to the kernel at once by default, and taking
/// them anew for each share is most of the time that merging a thousand of them takes.
#[cfg(target_env = "gnu")]
const KEPT_BYTES: libc::c_int = 64 << 20;

/// From now on this process keeps freed memory for the next allocation. Elsewhere than with glibc it changes nothing.
pub fn keep() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the function changes settings of the allocator and reads no memory of ours. Where it fails, they stay as they are.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
    }
}
