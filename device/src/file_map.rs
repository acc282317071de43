//! Files that several threads fill at once.
//!
//! Positioned writes to one file wait for each other in file systems in memory (Linux's tmpfs), and most of their time is
//! the allocation of pages, so that one thread's rate is that of all. Pages of a mapping are allocated in parallel. They
//! are requested before bytes are copied to them, by a call that returns an error where there is no space left, while
//! a first write would end the program with a signal. File systems on disks allocate many pages in a write and one in a fault,
//! so their files are not mapped.

use std::fs::File;

/// A mapping of a file in memory, all of it to be written.
#[derive(Debug)]
pub struct FileMap {
    #[cfg(target_os = "linux")]
    mapping: linux::Mapping,
    #[cfg(not(target_os = "linux"))]
    never: std::convert::Infallible,
}

impl FileMap {
    /// Makes a file `len` bytes long and maps it. `None` where it does not lie in memory, or where the system does not
    /// map it (other than Linux, or before Linux 5.14); the file may have the length then, and is written by positioned writes.
    /// The file must be open for reading and writing.
    pub fn new(file: &File, len: u64) -> Option<Self> {
        #[cfg(target_os = "linux")]
        return linux::Mapping::new(file, len).map(|mapping| Self { mapping });
        #[cfg(not(target_os = "linux"))]
        return None.filter(|_: &Self| len > 0 && file.metadata().is_ok());
    }

    /// Copies bytes into the file from byte `at` on. False where the file system has no room for them: a positioned write
    /// of the same bytes tells the reason.
    ///
    /// # Safety
    /// No other thread copies to the same bytes at the same time.
    ///
    /// # Panics
    /// Where the bytes go beyond the end of the file.
    #[expect(unsafe_code, reason = "the caller keeps threads apart")]
    #[must_use = "where the file system is full, nothing is copied"]
    pub unsafe fn put(&self, at: u64, bytes: &[u8]) -> bool {
        #[cfg(target_os = "linux")]
        // SAFETY: as the caller promises.
        return unsafe { self.mapping.put(at, bytes) };
        #[cfg(not(target_os = "linux"))]
        match self.never {}
    }
}

#[cfg(target_os = "linux")]
mod linux {
    #![expect(unsafe_code, reason = "mappings are made by system calls")]

    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::ptr;

    /// Bytes of a page.
    fn page() -> usize {
        // SAFETY: asks for a number.
        let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(bytes).expect("a page should have a size")
    }

    /// A shared mapping from the first byte of a file on.
    #[derive(Debug)]
    pub(super) struct Mapping {
        start: *mut u8,
        len: usize,
        page: usize,
    }

    // SAFETY: plain memory, not bound to a thread.
    unsafe impl Send for Mapping {}
    // SAFETY: `put` is the only use, whose callers keep threads apart.
    unsafe impl Sync for Mapping {}

    impl Mapping {
        pub(super) fn new(file: &File, len: u64) -> Option<Self> {
            let bytes = usize::try_from(len).ok().filter(|&len| len > 0)?;
            if !is_in_memory(file) || file.set_len(len).is_err() {
                return None;
            }
            // SAFETY: a new mapping of an open file; nothing else is at its place.
            let start = unsafe {
                let access = libc::PROT_READ | libc::PROT_WRITE;
                let none = ptr::null_mut();
                libc::mmap(none, bytes, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
            };
            if start == libc::MAP_FAILED {
                return None;
            }
            let mapping = Self {
                start: start.cast(),
                len: bytes,
                page: page(),
            };
            // A refusal changes nothing: large pages are the system's to allow.
            mapping.advise(0, bytes, libc::MADV_HUGEPAGE);
            let can_be_refused = mapping.advise(0, 1, libc::MADV_POPULATE_WRITE);
            can_be_refused.then_some(mapping)
        }

        /// Advice for the pages of a range, which begins at one; false where it is refused.
        fn advise(&self, from: usize, to: usize, advice: libc::c_int) -> bool {
            // SAFETY: pages of the mapping; none of the kinds of advice that are given changes what the file holds.
            unsafe {
                let start = self.start.add(from).cast();
                libc::madvise(start, to - from, advice) == 0
            }
        }

        /// As [`super::FileMap::put`].
        pub(super) unsafe fn put(&self, at: u64, bytes: &[u8]) -> bool {
            let from = usize::try_from(at).unwrap_or(usize::MAX);
            let to = from.saturating_add(bytes.len());
            assert!(to <= self.len, "bytes should lie in the file");
            if bytes.is_empty() {
                return true;
            }
            let first = from / self.page * self.page;
            if !self.advise(first, to, libc::MADV_POPULATE_WRITE) {
                return false;
            }
            // SAFETY: inside the mapping, whose pages there are allocated; no other thread is at these bytes, and the
            // source is no part of a mapping that is only written.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(from), bytes.len()) };
            // The file keeps the pages. To unmap them all at once later would be the work of one thread.
            let (first, behind) = (from.next_multiple_of(self.page), to / self.page * self.page);
            if first < behind {
                self.advise(first, behind, libc::MADV_DONTNEED);
            }
            true
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: mapped by `new`, unmapped once; nobody has an address in it.
            unsafe { libc::munmap(self.start.cast(), self.len) };
        }
    }

    /// Whether a file lies in a tmpfs.
    pub(super) fn is_in_memory(file: &File) -> bool {
        // SAFETY: numbers, for which all zeros are a value.
        let mut about: libc::statfs = unsafe { std::mem::zeroed() };
        // SAFETY: an open file; the structure is written.
        let asked = unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut about) };
        asked == 0 && about.f_type == libc::TMPFS_MAGIC
    }
}

// Miri has no mapped files.
#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    #![expect(unsafe_code, reason = "mapped files are filled")]

    use super::*;
    use std::os::fd::FromRawFd;
    use std::os::unix::fs::FileExt;

    /// A file in memory without a name.
    fn in_memory() -> File {
        // SAFETY: makes a file, which nobody else closes.
        unsafe {
            let made = libc::memfd_create(c"test".as_ptr(), 0);
            assert!(made >= 0, "a file in memory");
            File::from_raw_fd(made)
        }
    }

    #[test]
    fn threads_fill_a_file_each_at_its_places() {
        let (file, len) = (in_memory(), 3_000_001);
        file.write_all_at(&[0xee; 5], 0).expect("a file");
        let map = FileMap::new(&file, len).expect("a file in memory can be mapped");
        let byte = |at: u64| (at ^ at >> 8 ^ at >> 16) as u8;
        // No piece begins at a page or ends at one.
        let size = 70_001;
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let map = &map;
                scope.spawn(move || {
                    for from in (0..len).step_by(size).skip(thread).step_by(3) {
                        let to = len.min(from + size as u64);
                        let bytes: Vec<u8> = (from..to).map(byte).collect();
                        // SAFETY: pieces do not overlap.
                        assert!(unsafe { map.put(from, &bytes) }, "there is room");
                    }
                });
            }
        });
        drop(map);
        let mut found = vec![0; len as usize];
        file.read_exact_at(&mut found, 0).expect("as long as asked");
        assert_eq!(file.metadata().expect("a file").len(), len);
        let wrong = (0..len).find(|&at| found[at as usize] != byte(at));
        assert_eq!(wrong, None, "each byte at its place");
    }

    #[test]
    fn a_file_that_cannot_have_more_pages_refuses_bytes() {
        let file = in_memory();
        let map = FileMap::new(&file, 1 << 20).expect("a file in memory can be mapped");
        // A page beyond the end of the file cannot be had, as one that there is no space for cannot.
        file.set_len(8192).expect("a shorter file");
        // SAFETY: one thread.
        unsafe {
            assert!(map.put(100, &[1; 4000]), "inside");
            assert!(!map.put(4000, &[2; 40_000]), "no such page");
        }
    }

    #[test]
    fn files_elsewhere_and_empty_files_are_not_mapped() {
        assert!(FileMap::new(&in_memory(), 0).is_none());
        assert!(linux::is_in_memory(&in_memory()));
        let elsewhere = File::open("/proc/self/stat").expect("a file");
        assert!(!linux::is_in_memory(&elsewhere));
    }
}
