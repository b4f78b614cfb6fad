//! Moves particles from Rust: a stack is a count and a pointer to each column.

#[repr(C)]
struct Particles {
    count: i64,
    x: *mut f32,
    y: *mut f32,
    vx: *mut f32,
    vy: *mut f32,
}

unsafe extern "C" {
    fn step(particles: *mut Particles, dt: f32, gravity: f32);
    fn keep_above(particles: *mut Particles, floor: f32);
}

fn main() {
    const COUNT: usize = 1003;
    let (mut x, mut y) = (vec![0.0f32; COUNT], (0..COUNT).map(|i| (i % 7) as f32).collect::<Vec<f32>>());
    let (mut vx, mut vy) = (vec![1.0f32; COUNT], vec![2.0f32; COUNT]);
    let mut particles = Particles {
        count: COUNT as i64,
        x: x.as_mut_ptr(),
        y: y.as_mut_ptr(),
        vx: vx.as_mut_ptr(),
        vy: vy.as_mut_ptr(),
    };
    // SAFETY: the columns are apart and hold `count` elements each.
    unsafe {
        step(&mut particles, 0.5, 2.0);
        keep_above(&mut particles, 3.0);
    }
    let kept: Vec<f32> = (0..COUNT).map(|i| (i % 7) as f32 + 0.5).filter(|&y| y >= 3.0).collect();
    assert_eq!(particles.count, kept.len() as i64);
    assert_eq!(&y[..kept.len()], &kept[..]);
    assert!(x[..kept.len()].iter().all(|&x| x == 0.5));
    println!("{} of {COUNT} particles are above the floor", kept.len());
}
