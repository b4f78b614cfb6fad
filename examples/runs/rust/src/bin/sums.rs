//! Running sums from Rust.

unsafe extern "C" {
    fn running_sums(x: *const f32, x_count: i32, sums: *mut f32, sums_count: i32, n: i32);
}

fn main() {
    let x: Vec<f32> = (0..1234).map(|i| (i % 5 - 1) as f32).collect();
    let (mut sums, count) = (vec![0.0f32; x.len()], x.len() as i32);
    // SAFETY: both views hold as many elements as is said, and are apart.
    unsafe { running_sums(x.as_ptr(), count, sums.as_mut_ptr(), count, count) };
    // Small integers, so that every order of adding gives the same.
    let right = x.iter().scan(0.0, |sum, x| {
        *sum += x;
        Some(*sum)
    });
    assert!(right.eq(sums.iter().copied()));
    println!("the last of {count} sums is {}", sums[sums.len() - 1]);
}
