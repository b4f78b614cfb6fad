//! Every picture of one rack, and of two: the plan makes it, by no more instructions than it should.

use super::*;

/// What steps compute of two racks of distinct lanes.
fn run(steps: &[PlannedStep], args: &[Bits]) -> Bits {
    let mut done: Vec<Bits> = Vec::new();
    for step in steps {
        let operand = |src: &PlannedSrc| match src {
            PlannedSrc::Arg(at) => args[usize::from(*at)],
            PlannedSrc::Step(at) => done[usize::from(*at)],
            PlannedSrc::Lanes(lanes) => {
                std::array::from_fn(|lane| if lane < 4 { lanes[lane % lanes.len()] } else { 0 })
            }
            other => panic!("{other:?}"),
        };
        let operands: Vec<Bits> = step.args.iter().map(operand).collect();
        assert_eq!(operands.len(), step.op.info().slots.len());
        assert_eq!(step.imm.is_some(), step.op.info().imm);
        done.push((step.op.info().eval)(Ctx { lanes: 4, imm: step.imm.unwrap_or(0) }, &operands));
    }
    done.last().copied().unwrap_or(args[0])
}

const RACKS: [[u32; 4]; 2] = [[0x1111_0001, 0x1111_0002, 0x1111_0003, 0x1111_0004], [5, 6, 7, 0x8000_0008]];

fn rack(lanes: [u32; 4]) -> Bits {
    std::array::from_fn(|lane| lanes.get(lane).copied().unwrap_or(0))
}

/// Instructions and loads of literals.
fn size(steps: &[PlannedStep]) -> usize {
    let loads = |src: &&PlannedSrc| matches!(src, PlannedSrc::Lanes(_));
    steps.len() + steps.iter().flat_map(|step| step.args.iter()).filter(loads).count()
}

fn check(want: Held, racks: usize, most: usize) -> usize {
    let given: Vec<Held> = [[1, 2, 3, 4], [5, 6, 7, 8]][..racks].to_vec();
    let steps = sequence(&given, want).unwrap();
    let args: Vec<Bits> = RACKS[..racks].iter().map(|&lanes| rack(lanes)).collect();
    let lane =
        |symbol: u8| if symbol == 0 { 0 } else { RACKS[usize::from(symbol - 1) / 4][usize::from(symbol - 1) % 4] };
    assert_eq!(run(&steps, &args), rack(want.map(lane)), "{want:?}");
    assert!(size(&steps) <= most, "{want:?} takes {}", size(&steps));
    size(&steps)
}

#[test]
fn every_picture_of_one_rack_takes_two() {
    for number in 0..625 {
        check([0, 1, 2, 3].map(|lane| (number / 5u32.pow(lane) % 5) as u8), 1, 2);
    }
}

#[test]
fn pictures_of_two_racks_take_three_or_two_tables() {
    let mut sizes = [0; 5];
    for number in (0..4096u32).step_by(37) {
        let want = [0, 1, 2, 3].map(|lane| (number >> (3 * lane) & 7) as u8 + 1);
        sizes[check(want, 2, 4)] += 1;
    }
    assert!(sizes[4] < sizes[3], "{sizes:?}");
}

#[test]
fn what_machines_have_is_one_instruction() {
    for want in [[1, 5, 2, 6], [3, 7, 4, 8], [1, 3, 5, 7], [2, 4, 6, 8], [1, 5, 3, 7], [2, 3, 4, 5], [1, 2, 7, 4]] {
        assert_eq!(check(want, 2, 1), 1);
    }
    for want in [[2, 1, 4, 3], [3, 4, 1, 2], [3, 3, 3, 3], [4, 0, 0, 0], [3, 4, 0, 0]] {
        assert_eq!(check(want, 1, 1), 1);
    }
    assert_eq!(check([1, 2, 3, 4], 1, 0), 0);
}
