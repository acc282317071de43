//! Types of numbers in VTK's files.

/// A type of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VtkNumber {
    /// An integer.
    Int {
        /// Its size: 1, 2, 4 or 8.
        bytes: usize,
        /// Whether it may be negative.
        signed: bool,
    },
    /// A real number.
    Float {
        /// Its size: 4 or 8.
        bytes: usize,
    },
}

impl VtkNumber {
    /// Bytes of one.
    pub fn bytes(self) -> usize {
        match self {
            Self::Int { bytes, .. } | Self::Float { bytes } => bytes,
        }
    }

    /// By its name in XML files, such as `Float64`.
    pub fn of(name: &str) -> Option<Self> {
        let int = |bytes, signed| Some(Self::Int { bytes, signed });
        match name {
            "Int8" => int(1, true),
            "UInt8" => int(1, false),
            "Int16" => int(2, true),
            "UInt16" => int(2, false),
            "Int32" => int(4, true),
            "UInt32" => int(4, false),
            "Int64" => int(8, true),
            "UInt64" => int(8, false),
            "Float32" => Some(Self::Float { bytes: 4 }),
            "Float64" => Some(Self::Float { bytes: 8 }),
            _ => None,
        }
    }

    /// By its name in legacy files, such as `double`.
    pub fn of_legacy(name: &[u8]) -> Option<Self> {
        let int = |bytes, signed| Some(Self::Int { bytes, signed });
        match name.to_ascii_lowercase().as_slice() {
            b"char" | b"signed_char" | b"vtktypeint8" => int(1, true),
            b"unsigned_char" | b"vtktypeuint8" => int(1, false),
            b"short" | b"vtktypeint16" => int(2, true),
            b"unsigned_short" | b"vtktypeuint16" => int(2, false),
            b"int" | b"vtktypeint32" => int(4, true),
            b"unsigned_int" | b"vtktypeuint32" => int(4, false),
            b"long" | b"long_long" | b"vtktypeint64" | b"vtkidtype" => int(8, true),
            b"unsigned_long" | b"unsigned_long_long" | b"vtktypeuint64" => int(8, false),
            b"float" => Some(Self::Float { bytes: 4 }),
            b"double" => Some(Self::Float { bytes: 8 }),
            _ => None,
        }
    }

    /// The value of big-endian bytes, as f64.
    pub fn real(self, bytes: &[u8]) -> f64 {
        match self {
            Self::Float { bytes: 4 } => f32::from_bits(bits(bytes) as u32).into(),
            Self::Float { .. } => f64::from_bits(bits(bytes)),
            Self::Int { signed: false, .. } => bits(bytes) as f64,
            Self::Int { .. } => self.integer(bytes) as f64,
        }
    }

    /// The value of big-endian bytes, as an integer; the nearest one where it has none.
    pub fn integer(self, bytes: &[u8]) -> i64 {
        let bits = bits(bytes);
        match self {
            Self::Int {
                bytes,
                signed: true,
            } => {
                let unused = 64 - 8 * bytes as u32;
                (bits << unused) as i64 >> unused
            }
            Self::Int { .. } => i64::try_from(bits).unwrap_or(i64::MAX),
            Self::Float { .. } => self.real(bytes) as i64,
        }
    }
}

fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |x, &b| x << 8 | u64::from(b))
}
