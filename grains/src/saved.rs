//! The state of a bed as bytes, to the bit.
//!
//! Little-endian: the magic `CUTGRAIN`, a version, counts of grains, pairs that touch, wall contacts, loads, the step, sorts, the
//! clock, the skin; then arrays in the order of the grains in memory; last a checksum (FNV-1a of 64 bits) of all before. Parameters and the
//! surface are not stored: the caller gives the same ones again. Candidates are made again, from the places of the last
//! sort, so that sums keep their order.

use crate::arrays::GrainArrays;
use crate::bed::blocks;
use crate::kernels::cpu::walls::FACES;
use crate::kernels::{APART, BLOCK};
use crate::law::Memory;
use crate::walls::WallRecord;
use crate::{Bed, GrainError, GrainParams, SurfaceWall};
use cutlink_device::memory;

const MAGIC: &[u8; 8] = b"CUTGRAIN";
const VERSION: u64 = 2;
/// Magic, and ten numbers.
const HEAD: usize = 8 + 10 * 8;
/// Six vectors, radius and mass, material, id.
const GRAIN: usize = 6 * 24 + 16 + 1 + 4;
/// Two vectors, where there are loads.
const LOAD: usize = 2 * 24;
/// Two grains, two histories.
const PAIR: usize = 8 + 24;
/// Grain, key, three vectors.
const WALL: usize = 8 + 3 * 24;

fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Takes numbers off the front of bytes whose length was checked.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], GrainError> {
        let reason = "it is cut short";
        let (head, rest) = self
            .0
            .split_first_chunk()
            .ok_or(GrainError::Saved { reason })?;
        self.0 = rest;
        Ok(*head)
    }

    fn u64(&mut self) -> Result<u64, GrainError> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    fn u32(&mut self) -> Result<u32, GrainError> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn f64(&mut self) -> Result<f64, GrainError> {
        Ok(f64::from_le_bytes(self.take()?))
    }

    fn vector(&mut self) -> Result<[f64; 3], GrainError> {
        Ok([self.f64()?, self.f64()?, self.f64()?])
    }

    fn small(&mut self) -> Result<[f32; 3], GrainError> {
        let mut next = || Ok::<_, GrainError>(f32::from_le_bytes(self.take()?));
        Ok([next()?, next()?, next()?])
    }
}

impl Bed {
    /// The state as bytes: about 190 a grain, 32 a touching pair, 80 a contact with a wall.
    ///
    /// # Errors
    /// No memory.
    pub fn save(&self) -> Result<Vec<u8>, GrainError> {
        let (g, p, n) = (&self.grains, &self.contacts.pairs, self.len());
        let pairs = self.touching();
        let walls: usize = self.contacts.walls.iter().map(|b| b.records.len()).sum();
        let loads = g.load.len();
        let size = HEAD + n * GRAIN + loads * LOAD + pairs * PAIR + walls * WALL + 8;
        let mut bytes: Vec<u8> = memory::with_capacity("a saved state", size)?;
        bytes.extend_from_slice(MAGIC);
        let counts = [n, pairs, walls, loads].map(|count| count as u64);
        let steps = [self.step, self.sorts, self.clock.1];
        for number in [VERSION].into_iter().chain(counts).chain(steps) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.clock.0.to_le_bytes());
        bytes.extend_from_slice(&self.skin.to_le_bytes());
        let vectors = |bytes: &mut Vec<u8>, vectors: &[[f64; 3]]| {
            for x in vectors.iter().flatten() {
                bytes.extend_from_slice(&x.to_le_bytes());
            }
        };
        for array in [&g.x, &g.v, &g.w, &g.f, &g.t, &g.x_sorted] {
            vectors(&mut bytes, array);
        }
        for x in g.r.iter().chain(&g.m) {
            bytes.extend_from_slice(&x.to_le_bytes());
        }
        bytes.extend_from_slice(&g.material);
        for id in &g.id {
            bytes.extend_from_slice(&id.to_le_bytes());
        }
        vectors(&mut bytes, g.load.as_flattened());
        for i in 0..n {
            for q in p.first[i] as usize..p.first[i + 1] as usize {
                if p.place[q] == APART {
                    continue;
                }
                bytes.extend_from_slice(&(i as u32).to_le_bytes());
                bytes.extend_from_slice(&p.other[q].to_le_bytes());
                let roll = p.roll.get(q).copied().unwrap_or_default();
                for x in p.slide[q].iter().chain(&roll) {
                    bytes.extend_from_slice(&x.to_le_bytes());
                }
            }
        }
        for i in 0..n {
            for record in self.contacts.walls[i / BLOCK].of(i % BLOCK) {
                bytes.extend_from_slice(&(i as u32).to_le_bytes());
                bytes.extend_from_slice(&record.key.to_le_bytes());
                let Memory { slide, roll } = record.memory;
                vectors(&mut bytes, &[record.normal, slide, roll]);
            }
        }
        let sum = checksum(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        Ok(bytes)
    }

    /// A bed from [`Bed::save`], which continues with the same bits, under the same parameters and surface.
    ///
    /// # Errors
    /// Bytes that are no such state, or not one of these parameters; those of [`Bed::start`] about parameters and memory.
    pub fn restore(
        params: GrainParams,
        surface: Option<SurfaceWall>,
        bytes: &[u8],
    ) -> Result<Self, GrainError> {
        let wrong = |reason| Err(GrainError::Saved { reason });
        params.check()?;
        let Some((body, sum)) = bytes.split_last_chunk::<8>() else {
            return wrong("it is cut short");
        };
        let mut reader = Reader(body);
        if &reader.take::<8>()? != MAGIC {
            return wrong("its first bytes are others");
        }
        if reader.u64()? != VERSION {
            return wrong("it is of another version");
        }
        let mut numbers = [0; 7];
        for number in &mut numbers {
            *number = reader.u64()?;
        }
        let [n, pairs, walls, loads, step, sorts, since] = numbers;
        let size = u128::from(n) * GRAIN as u128
            + u128::from(loads) * LOAD as u128
            + u128::from(pairs) * PAIR as u128
            + u128::from(walls) * WALL as u128
            + HEAD as u128;
        if size != body.len() as u128 {
            return wrong("its counts are not those of its bytes");
        }
        if checksum(body) != u64::from_le_bytes(*sum) {
            return wrong("its checksum is another one: it was damaged");
        }
        let (time, skin) = (reader.f64()?, reader.f64()?);
        if !time.is_finite() || since > step {
            return wrong("its clock is none");
        }
        if loads != 0 && loads != n {
            return wrong("it has not one load a grain");
        }
        let mut grains = read_grains(&mut reader, n as usize, params.materials.list().len())?;
        grains.load = memory::with_capacity("loads of grains", loads as usize)?;
        for _ in 0..loads {
            grains.load.push([reader.vector()?, reader.vector()?]);
        }
        if !(skin > 0.0 && skin.is_finite()) {
            return wrong("its skin is no length");
        }
        let mut bed = Self::from_arrays(params, surface, grains, Some(skin))?;
        (bed.step, bed.sorts, bed.clock) = (step, sorts, (time, since));
        bed.find_candidates()?;
        bed.read_pairs(&mut reader, pairs)?;
        bed.read_walls(&mut reader, walls)?;
        match bed.validate() {
            Ok(()) => Ok(bed),
            Err(_) => wrong("its arrays contradict one another"),
        }
    }

    fn read_pairs(&mut self, reader: &mut Reader<'_>, pairs: u64) -> Result<(), GrainError> {
        let p = &mut self.contacts.pairs;
        for _ in 0..pairs {
            let (i, j) = (reader.u32()? as usize, reader.u32()?);
            let (slide, roll) = (reader.small()?, reader.small()?);
            let reason = "a pair that touches is no candidate";
            let row = match p.first.get(i..i + 2) {
                Some(&[from, to]) => from as usize..to as usize,
                _ => return Err(GrainError::Saved { reason }),
            };
            let found = p.other[row.clone()].binary_search(&j);
            let at = found.map_err(|_| GrainError::Saved { reason })? + row.start;
            p.slide[at] = slide;
            if let Some(old) = p.roll.get_mut(at) {
                *old = roll;
            }
            // The next step gives the place.
            p.place[at] = 0;
        }
        Ok(())
    }

    fn read_walls(&mut self, reader: &mut Reader<'_>, walls: u64) -> Result<(), GrainError> {
        let facets = self.surface.as_ref().map_or(0, SurfaceWall::facets);
        let mut rows: Vec<Vec<WallRecord>> = vec![Vec::new(); self.len()];
        for _ in 0..walls {
            let (i, key) = (reader.u32()? as usize, reader.u32()?);
            let (normal, slide) = (reader.vector()?, reader.vector()?);
            let memory = Memory {
                slide,
                roll: reader.vector()?,
            };
            let reason = "a contact with a wall is of no grain or no wall";
            if key as usize >= FACES as usize + facets {
                return Err(GrainError::Saved { reason });
            }
            let row = rows.get_mut(i).ok_or(GrainError::Saved { reason })?;
            row.push(WallRecord {
                key,
                normal,
                memory,
            });
        }
        self.contacts.walls = blocks(rows.iter().map(Vec::as_slice));
        Ok(())
    }
}

fn read_grains(
    reader: &mut Reader<'_>,
    n: usize,
    materials: usize,
) -> Result<GrainArrays, GrainError> {
    let mut vectors = || {
        let mut array = memory::with_capacity("vectors of grains", n)?;
        for _ in 0..n {
            array.push(reader.vector()?);
        }
        Ok::<_, GrainError>(array)
    };
    let (x, v, w) = (vectors()?, vectors()?, vectors()?);
    let (f, t, x_sorted) = (vectors()?, vectors()?, vectors()?);
    let mut numbers = || {
        let mut array = memory::with_capacity("radii and masses", n)?;
        for _ in 0..n {
            array.push(reader.f64()?);
        }
        Ok::<_, GrainError>(array)
    };
    let (r, m) = (numbers()?, numbers()?);
    let mut material = memory::with_capacity("materials of grains", n)?;
    for _ in 0..n {
        material.push(reader.take::<1>()?[0]);
    }
    let mut id = memory::with_capacity("ids of grains", n)?;
    for _ in 0..n {
        id.push(reader.u32()?);
    }
    let is_sound = r.iter().chain(&m).all(|x| *x > 0.0 && x.is_finite())
        && material.iter().all(|m| usize::from(*m) < materials)
        && x_sorted.iter().flatten().all(|x| x.is_finite());
    match is_sound {
        true => Ok(GrainArrays {
            x,
            v,
            w,
            f,
            t,
            r,
            m,
            material,
            id,
            x_sorted,
            load: Vec::new(),
        }),
        false => Err(GrainError::Saved {
            reason: "a radius, mass, place or material is out of range",
        }),
    }
}
