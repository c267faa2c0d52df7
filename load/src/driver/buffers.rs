//! The buffers that all of a thread's sockets receive into: a provided buffer ring (io_uring_register_buf_ring(3)).

use io_uring::IoUring;
use io_uring::types::BufRingEntry;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

/// The only group of buffers a ring has.
pub(super) const GROUP: u16 = 0;
/// Size of one buffer: a small response takes one, a large one several after each other.
const BUFFER_BYTES: usize = 8 * 1024;
/// The ring of buffers begins at a page, and no kernel has larger ones than these.
const LARGEST_PAGE: usize = 64 * 1024;
/// From this size on the buffers lie in huge pages: a small response touches only the beginning of its buffer, and with a page of
/// its own for each the processor's table of pages would not hold them.
const HUGE_PAGE: usize = 2 * 1024 * 1024;

/// Buffers and the ring through which the kernel takes them. It must be dropped after the `IoUring` it is registered with.
pub(super) struct Buffers {
    /// `count` entries; the tail of the ring lies in the unused field of the first (`io_uring_buf_ring`).
    entries: NonNull<BufRingEntry>,
    bytes: NonNull<u8>,
    count: u16,
    tail: u16,
    is_leaked: bool,
}

impl Buffers {
    /// As many buffers as `slots` sockets need in one batch, registered with `ring`. A batch that needs more ends some
    /// receives with ENOBUFS, which are then begun again.
    pub(super) fn register(ring: &IoUring, slots: u32) -> io::Result<Self> {
        let count = slots.next_power_of_two().clamp(64, 512) as u16;
        let mut buffers = Self {
            entries: allocate(entries_layout(count)).cast(),
            bytes: allocate_bytes(count),
            count,
            tail: 0,
            is_leaked: false,
        };
        // SAFETY: the entries live until the ring is gone, by the type's contract.
        unsafe {
            ring.submitter().register_buf_ring_with_flags(
                buffers.entries.as_ptr() as u64,
                count,
                GROUP,
                0,
            )?;
        }
        (0..count).for_each(|buffer| buffers.give_back(buffer));
        Ok(buffers)
    }

    /// They are never freed: the kernel may still write to them.
    pub(super) fn leak(&mut self) {
        self.is_leaked = true;
    }

    /// `len` bytes from `from` on of a buffer that the kernel handed out.
    pub(super) fn bytes(&self, buffer: u16, from: usize, len: usize) -> &[u8] {
        let from = from.min(BUFFER_BYTES);
        let len = len.min(BUFFER_BYTES - from);
        // SAFETY: inside the allocation; the kernel does not write to a buffer between handing it out and getting it back.
        unsafe { std::slice::from_raw_parts(self.start_of(buffer).add(from), len) }
    }

    /// Lets the kernel use a buffer again.
    pub(super) fn give_back(&mut self, buffer: u16) {
        let start = self.start_of(buffer);
        // SAFETY: the index is masked to the ring; the entry is the application's until the tail has passed it. The tail
        // is an aligned u16 in the first entry, read by the kernel with acquire semantics.
        unsafe {
            let entry = &mut *self.entries.as_ptr().add(usize::from(self.tail & (self.count - 1)));
            entry.set_addr(start as u64);
            entry.set_len(BUFFER_BYTES as u32);
            entry.set_bid(buffer);
            self.tail = self.tail.wrapping_add(1);
            let tail = BufRingEntry::tail(self.entries.as_ptr()).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Ordering::Release);
        }
    }

    fn start_of(&self, buffer: u16) -> *mut u8 {
        // SAFETY: masked to the allocation.
        unsafe { self.bytes.as_ptr().add(usize::from(buffer & (self.count - 1)) * BUFFER_BYTES) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if self.is_leaked {
            return;
        }
        // SAFETY: allocated in `register` with the same layouts.
        unsafe {
            dealloc(self.entries.as_ptr().cast(), entries_layout(self.count));
            dealloc(self.bytes.as_ptr(), bytes_layout(self.count));
        }
    }
}

fn allocate(layout: Layout) -> NonNull<u8> {
    // SAFETY: no layout here has size zero.
    NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Room for `count` buffers, in huge pages if they fill one and the system has them.
fn allocate_bytes(count: u16) -> NonNull<u8> {
    let layout = bytes_layout(count);
    if layout.align() < HUGE_PAGE {
        return allocate(layout);
    }
    // SAFETY: the size is not zero. The kernel writes to a buffer before anything reads it. The advice changes no byte.
    unsafe {
        let bytes = NonNull::new(alloc(layout)).unwrap_or_else(|| handle_alloc_error(layout));
        libc::madvise(bytes.as_ptr().cast(), layout.size(), libc::MADV_HUGEPAGE);
        bytes
    }
}

fn entries_layout(count: u16) -> Layout {
    layout(usize::from(count) * size_of::<BufRingEntry>())
}

fn bytes_layout(count: u16) -> Layout {
    layout(usize::from(count) * BUFFER_BYTES)
}

fn layout(size: usize) -> Layout {
    let align = if size >= HUGE_PAGE { HUGE_PAGE } else { LARGEST_PAGE };
    #[expect(clippy::expect_used, reason = "at most 4 MiB, aligned to a power of two")]
    Layout::from_size_align(size, align).expect("a small size and a power of two")
}
