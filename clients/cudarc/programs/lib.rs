//! Nothing: the programs are tests/driver.rs.
