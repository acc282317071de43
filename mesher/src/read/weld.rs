//! Welding: a triangle soup to indexed form, by exact coordinates.
//!
//! In: pieces of a soup, three corners a triangle. Out: distinct points in order
//! of first appearance (f64; exact), and three indices a triangle in input order.
//! Two corners are one vertex where all three coordinates are equal as numbers:
//! -0.0 equals 0.0, and the vertex then has 0.0. NaN must not occur.
//!
//! Deterministic: one order, whatever the number of threads. Cost: one hash
//! lookup a corner in an open table of 4 bytes an entry, at most half full.

use cutlink_device::{DeviceError, memory};

/// Why a soup could not be welded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WeldError {
    /// More corners than a 32-bit index can name.
    #[error("{corners} corners are more than the 2^32 - 2 that can be numbered")]
    TooMany {
        /// Their number.
        corners: u64,
    },
    /// Not enough memory.
    #[error(transparent)]
    Memory(#[from] DeviceError),
}

/// Welds the soup.
///
/// # Errors
/// Too many corners, or too little memory for the result.
///
/// ```
/// use cutlink_mesher::read::weld;
/// let soup = [[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
///             [[1.0, -0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]];
/// let (vertices, facets) = weld(&[&soup]).expect("two triangles should be few");
/// assert_eq!(vertices.len(), 4);
/// assert_eq!(facets, [[0, 1, 2], [1, 3, 2]]);
/// ```
#[expect(
    clippy::type_complexity,
    reason = "vertices and facets, as in a surface"
)]
pub fn weld<T: Copy + Into<f64>>(
    soup: &[impl AsRef<[[[T; 3]; 3]]>],
) -> Result<(Vec<[f64; 3]>, Vec<[u32; 3]>), WeldError> {
    let triangles: usize = soup.iter().map(|piece| piece.as_ref().len()).sum();
    if triangles as u64 * 3 > u64::from(u32::MAX) - 1 {
        return Err(WeldError::TooMany {
            corners: triangles as u64 * 3,
        });
    }
    let mut table = Table::new(triangles)?;
    let mut facets = memory::with_capacity("triangles", triangles)?;
    for piece in soup {
        for triangle in piece.as_ref() {
            // PERF: plain loops; of nested maps the compiler made calls.
            let mut corners = [[0.0; 3]; 3];
            let mut hashes = [0; 3];
            for k in 0..3 {
                for axis in 0..3 {
                    // Adding 0.0 turns -0.0 into 0.0.
                    corners[k][axis] = triangle[k][axis].into() + 0.0;
                }
                hashes[k] = hash(corners[k]);
            }
            if table.is_full() {
                table.grow()?;
            }
            let mut facet = [0; 3];
            for k in 0..3 {
                facet[k] = table.index_of(corners[k], hashes[k]);
            }
            facets.push(facet);
        }
    }
    Ok((table.vertices, facets))
}

#[inline]
fn hash([x, y, z]: [f64; 3]) -> u64 {
    let key = [x.to_bits(), y.to_bits(), z.to_bits()];
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut h = key[0].wrapping_mul(K);
    h = (h.rotate_left(26) ^ key[1]).wrapping_mul(K);
    h = (h.rotate_left(26) ^ key[2]).wrapping_mul(K);
    h ^ (h >> 32)
}

/// Vertices found so far and an open-addressing table of their indices.
struct Table {
    vertices: Vec<[f64; 3]>,
    /// Index + 1 of a vertex, or 0; the length is a power of two.
    slots: Vec<u32>,
}

impl Table {
    /// Sized for a closed mesh: half as many vertices as triangles.
    fn new(triangles: usize) -> Result<Self, DeviceError> {
        let size = (triangles + 32).next_power_of_two();
        let mut slots = Vec::new();
        memory::grow("a table of vertices", &mut slots, size, 0)?;
        Ok(Self {
            vertices: memory::with_capacity("vertices", size / 2)?,
            slots,
        })
    }

    /// Whether the three corners of a triangle might not find room.
    fn is_full(&self) -> bool {
        2 * (self.vertices.len() + 3) > self.slots.len()
    }

    fn index_of(&mut self, point: [f64; 3], hash: u64) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.slots[at] {
                0 => break,
                entry if self.vertices[entry as usize - 1] == point => return entry - 1,
                _ => at = (at + 1) & mask,
            }
        }
        let index = self.vertices.len() as u32;
        self.vertices.push(point);
        self.slots[at] = index + 1;
        index
    }

    fn grow(&mut self) -> Result<(), DeviceError> {
        let size = 2 * self.slots.len();
        let mask = size - 1;
        self.slots = Vec::new();
        memory::grow("a table of vertices", &mut self.slots, size, 0)?;
        let mut vertices = memory::with_capacity("vertices", size / 2)?;
        vertices.append(&mut self.vertices);
        self.vertices = vertices;
        for (index, point) in self.vertices.iter().enumerate() {
            let mut at = hash(*point) as usize & mask;
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = index as u32 + 1;
        }
        Ok(())
    }
}
