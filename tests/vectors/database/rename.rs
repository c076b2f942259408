//! Other names for everything, so that nothing can hang on them.

use crate::format::Vector;
use servers::database::Flavor;

pub fn renamed(_: Flavor, vector: &Vector, _: u64) -> Vector {
    vector.clone()
}
