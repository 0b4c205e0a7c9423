//! Kernels whose points are independent and which load some operands along another axis than the lanes: a
//! block takes a square tile, loads those operands along their own axis, and turns them in shared memory.

use super::address::{self, Reach};
use super::body::{Body, Stages};
use super::{TILE_THREADS, Variant, points, types};
use inflight_ir::kernel::{Kernel, Kind, Value};

/// So many operands along the lanes are loaded ahead.
const MOST_EARLY: usize = 4;

/// How tiles lie.
pub struct Tile {
    /// The axis that the turned accesses run along.
    pub axis: usize,
    pub side: u32,
    /// Whether each comes next to the one across the diagonal.
    pub paired: bool,
    /// Whether all points are inside.
    pub whole: bool,
}

pub fn text(kernel: &Kernel, variant: Variant, tile: &Tile, turned: u64) -> String {
    let &Tile { axis, side, paired, .. } = tile;
    let stages = Stages::new(kernel);
    let mut body = Body::new(kernel, &stages, 1, variant);
    let vector = kernel.rank() - 1;
    let loads: Vec<Value> = (0..kernel.body.len() as Value)
        .filter(|&value| match kernel.body[value as usize].kind {
            Kind::Load { access, index: None, mask: None } => {
                access < u64::BITS && turned >> access & 1 == 1
            }
            _ => false,
        })
        .collect();
    body.open_entry(side * TILE_THREADS);
    for &value in &loads {
        let kind = types::name(kernel.body[value as usize].dtype);
        body.writer.line(format!("__shared__ {kind} turned{value}[{side}][{side} + 1];"));
    }
    for line in [
        format!("const int tx = threadIdx.x % {side}, ty = threadIdx.x / {side};"),
        format!("const I across = ((I)a.extent[{vector}] + {side} - 1) / {side};"),
        format!("const I down = ((I)a.extent[{axis}] + {side} - 1) / {side};"),
    ] {
        body.writer.line(line);
    }
    body.writer.open("for (I tile = blockIdx.x; tile < (I)a.items; tile += gridDim.x)");
    if paired {
        // Pairs are counted along the columns of the upper triangle; a tile on the diagonal is its own partner.
        for line in [
            "const I all = across * (across + 1), number = tile % all, pair = number / 2;",
            "I high = (I)((sqrtf(8.0f * (float)pair + 1.0f) - 1.0f) * 0.5f);",
            "while (high * (high + 1) / 2 > pair) high--;",
            "while ((high + 1) * (high + 2) / 2 <= pair) high++;",
            "const I low = pair - high * (high + 1) / 2;",
            "const bool second = number & 1;",
            "if (second && low == high) continue;",
        ] {
            body.writer.line(line);
        }
        body.writer.line(format!(
            "const I left = (second ? low : high) * {side}, top = (second ? high : low) * {side};"
        ));
    } else {
        body.writer.line(format!("const I left = tile % across * {side};"));
        body.writer.line(format!("const I top = tile / across % down * {side};"));
    }
    let rest = if paired { "tile / all" } else { "tile / across / down" };
    address::unravel(&mut body.writer, rest, (0..vector).filter(|&other| other != axis));
    tile.write(&mut body, &loads);
    body.writer.line("__syncthreads();");
    body.writer.close();
    body.writer.close();
    body.writer.finish()
}

impl Tile {
    /// What the threads of a block do with a tile.
    fn write(&self, body: &mut Body, loads: &[Value]) {
        let (kernel, steps) = (body.kernel, self.side / TILE_THREADS);
        let slow = format!("ty + s * {TILE_THREADS}");
        // What is loaded along the lanes is on its way while the tile is turned.
        let early: Vec<Value> = points::early_loads(kernel)
            .into_iter()
            .filter(|value| !loads.contains(value))
            .take(MOST_EARLY)
            .collect();
        // All loads are under way before the first of them is needed.
        for (letter, values) in [('e', &early[..]), ('q', loads)] {
            for &value in values {
                let kind = types::name(kernel.body[value as usize].dtype);
                body.writer.line(format!("{kind} {letter}{value}[{steps}];"));
            }
        }
        self.open_point(body, "tx", &slow);
        for &value in loads {
            let expression = body.expression(value, "0", Reach::Tile);
            body.writer.line(format!("q{value}[s] = {expression};"));
        }
        body.writer.close();
        body.writer.close();
        if !early.is_empty() {
            self.open_point(body, &slow, "tx");
            for &value in &early {
                let expression = body.expression(value, "0", Reach::Tile);
                body.writer.line(format!("e{value}[s] = {expression};"));
                body.names[value as usize] = format!("e{value}[s]");
            }
            body.writer.close();
            body.writer.close();
        }
        body.writer.unrolled("s", steps);
        for &value in loads {
            body.writer.line(format!("turned{value}[{slow}][tx] = q{value}[s];"));
        }
        body.writer.close();
        body.writer.line("__syncthreads();");
        self.open_point(body, &slow, "tx");
        for &value in loads {
            body.names[value as usize] = format!("turned{value}[tx][{slow}]");
        }
        points::compute(body, &|value| loads.contains(value) || early.contains(value));
        body.writer.close();
        body.writer.close();
    }

    /// Opens the two blocks around a thread's points, one after another.
    fn open_point(&self, body: &mut Body, along: &str, across: &str) {
        let (axis, vector) = (self.axis, body.kernel.rank() - 1);
        body.writer.unrolled("s", self.side / TILE_THREADS);
        body.writer.line(format!("const I c{axis} = top + {along}, c{vector} = left + {across};"));
        body.writer.open(match self.whole {
            true => String::new(),
            false => {
                format!("if (c{axis} < (I)a.extent[{axis}] && c{vector} < (I)a.extent[{vector}])")
            }
        });
        address::bases(&mut body.writer, body.kernel, 0..body.kernel.grid_rank);
    }
}
