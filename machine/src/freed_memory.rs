//! Keeps freed memory in the process because it will be needed again.

/// How much glibc keeps. By default it returns the histograms of a share to the kernel at once, because they are large; allocating them
/// anew for each share takes most of the time when a thousand shares are merged.
#[cfg(target_env = "gnu")]
const KEPT_BYTES: libc::c_int = 64 << 20;

/// Lets this process keep freed memory for the next allocation from now on. Without glibc this changes nothing.
pub fn keep() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the function changes settings of the allocator and reads no memory of ours. If it fails, they stay as they are.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
    }
}
