//! What the launcher of a process says in its environment.

/// Variables with the number of processes: Open MPI; MPICH and what is like it; Slurm.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];
/// Variables with the rank among the processes of a host: the same.
const LOCAL: [&str; 4] = [
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "PMI_LOCAL_RANK",
    "SLURM_LOCALID",
];

fn number(names: &[&str], value: impl Fn(&str) -> Option<String>) -> Option<usize> {
    names
        .iter()
        .find_map(|name| value(name)?.trim().parse().ok())
}

/// The number of processes that a launcher has started with this one, if there are several.
pub fn launched() -> Option<usize> {
    number(&SIZES, |name| std::env::var(name).ok()).filter(|&size| size > 1)
}

/// The rank of this process among those of its host; 0 where the launcher does not say.
pub fn local_rank() -> usize {
    number(&LOCAL, |name| std::env::var(name).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_a_number_counts() {
        let of = |set: &'static [(&str, &str)]| {
            move |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            }
        };
        assert_eq!(number(&SIZES, of(&[])), None);
        assert_eq!(number(&SIZES, of(&[("PMI_SIZE", "4")])), Some(4));
        let both = &[("PMI_SIZE", "x"), ("SLURM_STEP_NUM_TASKS", " 8\n")];
        assert_eq!(number(&SIZES, of(both)), Some(8));
    }
}
