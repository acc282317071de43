//! Flows against analytic answers.
//!
//! | module | what |
//! |---|---|
//! | `adapting` | meshes that follow the flow: a carried vortex, a wake, conservation |
//! | `arrays` | creeping flow through spheres: Zick and Homsy; the force by who moves |
//! | `bodies` | the steady wake of a circle |
//! | `ducts` | an inlet and an outlet by patch; a plate thinner than a cell |
//! | `grains` | spheres that move with the fluid: drag, torque, weight, momentum, impacts, states |
//! | `halves` | populations in 16 bits: conversions against IEEE, decay, drag and mass against f64 and f32 |
//! | `heat` | conduction, a carried bell, natural convection, the account of heat |
//! | `inclined` | Poiseuille and Couette flow along walls inclined by 20 degrees: order at cut links |
//! | `integrals` | sums over the fluid: against those of a snapshot, and of Taylor-Green vortices |
//! | `lids` | a lid of cut links against one of the box; what walls do on the whole |
//! | `moving` | bodies that move: every lattice, collision and precision, blocks that follow, free bodies, states |
//! | `moments` | cells that keep moments against cells with populations: fields, forces, states |
//! | `mass` | moving walls conserve mass without a reset: circles that turn, lids |
//! | `modeled` | walls by the law of the wall: friction of a stream along inclined walls, restarts, both backends |
//! | `openings` | inlets and outlets beside no-slip walls: pressure, mass flow, corners |
//! | `operators` | cumulants, KBC, eddy viscosity: order, channels, flows that the mesh does not resolve |
//! | `periodic` | Taylor-Green vortices: order, refinement, conservation |
//! | `walls` | Poiseuille, Couette, circular Couette: order at cut links, torque |
//! | `sound` | how much sound comes back from faces, and through sponges |
//! | `strained` | states with the stress of a rate of strain: round trips, the decay of vortices from the first step, another time step |
//! | `stability` | how fast the fastest disturbance of a uniform stream grows: levels, faces |
//! | `recorded` | small flows with the values that they had when these were recorded |
//! | `running` | same bits for threads and after a restart; divergence; refusals |
//! | `varying` | profiles and conditions in time: constants, restarts, parabolic inlets, Womersley |
//! | `ranks` | any number of ranks against one: the same bits |
//! | `twins` | every lattice, collision, precision and wall scheme against f64 on one thread of the host |

mod adapting;
mod arrays;
mod bodies;
mod ducts;
mod facets;
mod grains;
mod halves;
mod heat;
mod inclined;
mod integrals;
mod lids;
mod mass;
mod modeled;
mod moments;
mod moving;
mod openings;
mod operators;
mod periodic;
mod ranks;
mod recorded;
mod running;
mod sound;
mod stability;
mod strained;
mod twins;
mod varying;
mod walls;
