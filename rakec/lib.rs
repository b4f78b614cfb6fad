//! rakec
