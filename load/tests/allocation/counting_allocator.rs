//! The system's allocator, with a count of allocations.
//!
//! Each thread counts its own allocations, and all threads that have not called [`exclude_this_thread`] count together.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static OF_THIS_THREAD: Cell<u64> = const { Cell::new(0) };
    static IS_EXCLUDED: Cell<bool> = const { Cell::new(false) };
}

struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller guarantees the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees the contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller guarantees the contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn count() {
    OF_THIS_THREAD.set(OF_THIS_THREAD.get() + 1);
    if !IS_EXCLUDED.get() {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

/// Called by a test's own threads and by those of its server, so that only the generator's threads are counted.
pub fn exclude_this_thread() {
    IS_EXCLUDED.set(true);
}

pub fn allocations_of_all_threads() -> u64 {
    ALLOCATIONS.load(Ordering::Relaxed)
}

pub fn allocations_of_this_thread() -> u64 {
    OF_THIS_THREAD.get()
}
