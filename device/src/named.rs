//! Choices that users give by name.

/// A type whose values have names: for the schema of a file, and for messages.
pub trait Named {
    /// Its name in the schema.
    const NAME: &'static str;

    /// The names of all values.
    fn names() -> Vec<&'static str>;
}
