//! Asking for a GPU that is not there: an error that names the way out, never a panic, never another device.

#![cfg(feature = "cuda")]

use cutlink_device::{
    DeviceError,
    cuda::{Cuda, count},
};

/// Far more than any machine has.
const MANY: u32 = 4096;

#[test]
fn a_device_that_is_not_there_is_an_error() {
    for open in [Cuda::new, Cuda::checked] {
        let error = open(MANY).map(|_| ()).expect_err("no such device");
        let text = error.to_string();
        assert!(text.contains("--device cpu"), "the way out: {text}");
        match error {
            DeviceError::NoDevice { ordinal, devices } => {
                assert_eq!((ordinal, Ok(devices)), (MANY, count()), "{text}");
            }
            DeviceError::NoDriver | DeviceError::OldDriver { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

/// What a machine of CI says.
#[test]
#[cfg_attr(has_cuda, ignore = "this machine has a device")]
fn a_machine_without_a_gpu_says_so() {
    for open in [Cuda::new, Cuda::checked] {
        let error = open(0).map(|_| ()).expect_err("no device");
        let is_known = matches!(
            error,
            DeviceError::NoDriver | DeviceError::NoDevice { devices: 0, .. }
        );
        assert!(is_known, "{error:?}");
        assert!(error.to_string().contains("--device cpu"), "{error}");
        // Once more: what failed before is requested again.
        assert_eq!(open(0).map(|_| ()), Err(error));
    }
}
