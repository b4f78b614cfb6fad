//! Blends all pairs of channels from Rust, and compares with the rounded quotient.

#[repr(C)]
struct Pixels {
    count: i64,
    columns: [*mut u8; 4],
}

unsafe extern "C" {
    fn blend(under: *mut Pixels, over: *const Pixels);
}

fn pixels(columns: &mut [Vec<u8>; 4]) -> Pixels {
    Pixels { count: columns[0].len() as i64, columns: columns.each_mut().map(Vec::as_mut_ptr) }
}

fn main() {
    for alpha in (0..=255u8).step_by(15) {
        let low: Vec<u8> = (0..=u16::MAX).map(|i| i as u8).collect();
        let high: Vec<u8> = (0..=u16::MAX).map(|i| (i >> 8) as u8).collect();
        let mut under = [low.clone(), low.clone(), low.clone(), low.clone()];
        let mut over = [high.clone(), high.clone(), high.clone(), vec![alpha; high.len()]];
        let (mut result, other) = (pixels(&mut under), pixels(&mut over));
        // SAFETY: the columns are apart and hold `count` elements each.
        unsafe { blend(&mut result, &other) };
        for (channel, (low, high)) in under[1].iter().zip(low.iter().zip(&high)) {
            let sum = u32::from(*high) * u32::from(alpha) + u32::from(*low) * (255 - u32::from(alpha));
            assert_eq!(u32::from(*channel), (sum + 127) / 255);
        }
        assert_eq!(under[3], low);
    }
    println!("18 blends of 65536 pixels are exact");
}
