//! Looks values up in a table from Rust.

#[repr(C)]
struct Samples {
    count: i64,
    index: *mut i32,
    value: *mut f32,
}

unsafe extern "C" {
    fn look_up(samples: *mut Samples, table: *const f32, table_count: i32, scale: f32);
}

fn main() {
    let table: Vec<f32> = (0..61).map(|i| (i * i) as f32).collect();
    let mut index: Vec<i32> = (0..1000).map(|i| i * 7 % 61).collect();
    let mut value = vec![0.0f32; index.len()];
    let mut samples =
        Samples { count: index.len() as i64, index: index.as_mut_ptr(), value: value.as_mut_ptr() };
    // SAFETY: the columns are apart and hold `count` elements each, the table as many as is said.
    unsafe { look_up(&mut samples, table.as_ptr(), table.len() as i32, 0.5) };
    assert!(index.iter().zip(&value).all(|(&at, &value)| value == (at * at) as f32 / 2.0));
    println!("{} values were found", value.len());
}
