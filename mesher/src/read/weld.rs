//! Welding: a triangle soup to indexed form, by exact coordinates.
//!
//! In: pieces of a soup, three corners a triangle. Out: distinct points in order
//! of first appearance (f64; exact), and three indices a triangle in input order.
//! Two corners are one vertex where all three coordinates are equal as numbers:
//! -0.0 equals 0.0, and the vertex then has 0.0. NaN must not occur.
//!
//! Deterministic: one order, whatever the number of threads. Cost: one hash
//! lookup a corner in an open table of 4 bytes an entry, at most half full.

/// Welds the soup; `None` where it has more than 2^32 - 2 corners.
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
) -> Option<(Vec<[f64; 3]>, Vec<[u32; 3]>)> {
    let triangles: usize = soup.iter().map(|piece| piece.as_ref().len()).sum();
    if triangles as u64 * 3 > u64::from(u32::MAX) - 1 {
        return None;
    }
    let mut table = Table::new(triangles);
    let mut facets = Vec::with_capacity(triangles);
    for piece in soup {
        for triangle in piece.as_ref() {
            // Adding 0.0 turns -0.0 into 0.0.
            let corners = triangle.map(|corner| corner.map(|x| x.into() + 0.0));
            let hashes = corners.map(hash);
            facets.push(std::array::from_fn(|k| {
                table.index_of(corners[k], hashes[k])
            }));
        }
    }
    Some((table.vertices, facets))
}

fn hash(point: [f64; 3]) -> u64 {
    let key = point.map(f64::to_bits);
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
    fn new(triangles: usize) -> Self {
        Self {
            vertices: Vec::with_capacity(triangles / 2 + 16),
            slots: vec![0; (triangles + 32).next_power_of_two()],
        }
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
        if 2 * self.vertices.len() > self.slots.len() {
            self.grow();
        }
        index
    }

    fn grow(&mut self) {
        let mask = 2 * self.slots.len() - 1;
        self.slots = vec![0; mask + 1];
        for (index, point) in self.vertices.iter().enumerate() {
            let mut at = hash(*point) as usize & mask;
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = index as u32 + 1;
        }
    }
}
