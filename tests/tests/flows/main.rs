//! Flows against analytic answers.
//!
//! | module | what |
//! |---|---|
//! | `periodic` | Taylor-Green vortices: order, refinement, conservation |
//! | `walls` | Poiseuille, Couette, circular Couette: order at cut links, torque |
//! | `running` | same bits for threads and after a restart; divergence; refusals |

/// Makes a test of each function of the list, on the CPU: the only backend with kernels for flows.
#[macro_export]
macro_rules! on_cpu {
    ($($name:ident),+ $(,)?) => {
        mod cpu {
            $(#[test]
            fn $name() {
                super::$name(cutlink_tests::backends::cpu());
            })+
        }
    };
}

mod periodic;
mod running;
mod walls;
