//! Counts the memory that a target takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, with a count for each thread. A program that runs targets needs it as its
/// global one.
#[derive(Debug)]
pub struct Counting;

fn count(bytes: isize) {
    // Gone at a thread's end, when nobody measures any more.
    let _ended = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ended = MOST.try_with(|most| most.set(most.get().max(held.get())));
    });
}

fn signed(len: usize) -> isize {
    isize::try_from(len).unwrap_or(isize::MAX)
}

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(signed(layout.size()));
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-signed(layout.size()));
        // SAFETY: the caller's promise is handed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(signed(new_size) - signed(layout.size()));
        // SAFETY: the caller's promise is handed on.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

/// The most memory that the calling thread held at once during `work`, in bytes, beyond what it
/// held before.
pub(super) fn most_held<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    // Without the counting allocator every check would pass.
    let probe = std::hint::black_box(Box::new(0_u64));
    assert!(HELD.get() > before, "memory is not counted");
    drop(probe);
    MOST.set(before);
    let result = work();
    let most = MOST.get() - before;
    (result, usize::try_from(most).unwrap_or(0))
}
