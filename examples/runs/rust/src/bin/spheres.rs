//! Traces rays from Rust.

#[repr(C)]
struct Rays {
    count: i64,
    origin: [*mut f32; 3],
    direction: [*mut f32; 3],
    distance: *mut f32,
}

unsafe extern "C" {
    fn trace(rays: *mut Rays, radius: f32);
}

fn main() {
    const COUNT: usize = 77;
    let mut zero = [[0.0f32; COUNT]; 3];
    let mut x: Vec<f32> = (0..COUNT).map(|i| i as f32 / 8.0).collect();
    let (mut z, mut forward, mut distance) = ([-10.0f32; COUNT], [1.0f32; COUNT], [0.0f32; COUNT]);
    let [y, dx, dy] = &mut zero;
    let mut rays = Rays {
        count: COUNT as i64,
        origin: [x.as_mut_ptr(), y.as_mut_ptr(), z.as_mut_ptr()],
        direction: [dx.as_mut_ptr(), dy.as_mut_ptr(), forward.as_mut_ptr()],
        distance: distance.as_mut_ptr(),
    };
    // SAFETY: the columns are apart and hold `count` elements each.
    unsafe { trace(&mut rays, 5.0) };
    for (x, distance) in x.iter().zip(distance) {
        // A ray at a distance of up to 5 from the axis meets the sphere of radius 5.
        assert!(if *x <= 5.0 { (5.0..=10.0).contains(&distance) } else { distance == -1.0 });
    }
    assert_eq!((distance[0], distance[40]), (5.0, 10.0));
    println!("{} of {COUNT} rays hit", distance.iter().filter(|&&distance| distance > 0.0).count());
}
