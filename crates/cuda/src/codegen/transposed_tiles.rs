//! The `TransposedTiles` mapping: elementwise kernels with operands that are contiguous along another axis than the
//! vector axis.
//!
//! A block processes a square tile. It loads those operands coalesced along their own axis and transposes them in
//! shared memory, which is padded by one column against bank conflicts.

use super::address::{self, Reach};
use super::body::{Body, Passes};
use super::{TILE_THREADS, Variant, elementwise, types};
use inflight_ir::kernel::{Kernel, Kind, Value};

/// Most operands along the vector axis that are prefetched while a tile is transposed.
const MAX_PREFETCHED: usize = 4;

/// The shape and order of tiles. See [`Mapping::TransposedTiles`](super::Mapping::TransposedTiles).
pub struct Tile {
    /// The axis along which the transposed loads are contiguous.
    pub axis: usize,
    pub side: u32,
    /// Whether each tile is followed by its mirror across the diagonal.
    pub paired: bool,
    /// Whether all tiles are full, so that no bounds check is needed.
    pub full: bool,
}

pub fn text(kernel: &Kernel, variant: Variant, tile: &Tile, transposed: u64) -> String {
    let &Tile { axis, side, paired, .. } = tile;
    let passes = Passes::new(kernel);
    let mut body = Body::new(kernel, &passes, 1, variant);
    let vector = kernel.rank() - 1;
    let loads: Vec<Value> = (0..kernel.body.len() as Value)
        .filter(|&value| match kernel.body[value as usize].kind {
            Kind::Load { access, index: None, mask: None } => {
                access < u64::BITS && transposed >> access & 1 == 1
            }
            _ => false,
        })
        .collect();
    body.open_entry(side * TILE_THREADS);
    for &value in &loads {
        let kind = types::name(kernel.body[value as usize].dtype);
        body.writer.line(format!("__shared__ {kind} transposed{value}[{side}][{side} + 1];"));
    }
    for line in [
        format!("const int tx = threadIdx.x % {side}, ty = threadIdx.x / {side};"),
        format!("const I tiles_x = ((I)a.extent[{vector}] + {side} - 1) / {side};"),
        format!("const I tiles_y = ((I)a.extent[{axis}] + {side} - 1) / {side};"),
    ] {
        body.writer.line(line);
    }
    body.writer.open("for (I tile = blockIdx.x; tile < (I)a.items; tile += gridDim.x)");
    if paired {
        // Pairs are numbered along the columns of the upper triangle. A tile on the diagonal is its own mirror.
        // Inverting the triangular number in `f32` may be off by one, which the loops correct.
        for line in [
            "const I all = tiles_x * (tiles_x + 1), index = tile % all, pair = index / 2;",
            "I high = (I)((sqrtf(8.0f * (float)pair + 1.0f) - 1.0f) * 0.5f);",
            "while (high * (high + 1) / 2 > pair) high--;",
            "while ((high + 1) * (high + 2) / 2 <= pair) high++;",
            "const I low = pair - high * (high + 1) / 2;",
            "const bool is_mirror = index & 1;",
            "if (is_mirror && low == high) continue;",
        ] {
            body.writer.line(line);
        }
        body.writer.line(format!(
            "const I left = (is_mirror ? low : high) * {side}, top = (is_mirror ? high : low) * {side};"
        ));
    } else {
        body.writer.line(format!("const I left = tile % tiles_x * {side};"));
        body.writer.line(format!("const I top = tile / tiles_x % tiles_y * {side};"));
    }
    let rest = if paired { "tile / all" } else { "tile / tiles_x / tiles_y" };
    address::unravel(&mut body.writer, rest, (0..vector).filter(|&other| other != axis));
    tile.write(&mut body, &loads);
    body.writer.line("__syncthreads();");
    body.writer.close();
    body.writer.close();
    body.writer.finish()
}

impl Tile {
    /// Emits the processing of one tile by a block.
    fn write(&self, body: &mut Body, loads: &[Value]) {
        let (kernel, steps) = (body.kernel, self.side / TILE_THREADS);
        let slow = format!("ty + s * {TILE_THREADS}");
        // Loads along the vector axis are in flight while the tile is transposed.
        let early: Vec<Value> = elementwise::early_loads(kernel)
            .into_iter()
            .filter(|value| !loads.contains(value))
            .take(MAX_PREFETCHED)
            .collect();
        // All loads are issued before the first use.
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
            body.writer.line(format!("transposed{value}[{slow}][tx] = q{value}[s];"));
        }
        body.writer.close();
        body.writer.line("__syncthreads();");
        self.open_point(body, &slow, "tx");
        for &value in loads {
            body.names[value as usize] = format!("transposed{value}[tx][{slow}]");
        }
        elementwise::emit_vector(body, &|value| loads.contains(value) || early.contains(value));
        body.writer.close();
        body.writer.close();
    }

    /// Opens the two blocks around the loop over a thread's points: the loop and its bounds check.
    fn open_point(&self, body: &mut Body, axis_offset: &str, vector_offset: &str) {
        let (axis, vector) = (self.axis, body.kernel.rank() - 1);
        body.writer.unrolled("s", self.side / TILE_THREADS);
        body.writer.line(format!(
            "const I c{axis} = top + {axis_offset}, c{vector} = left + {vector_offset};"
        ));
        body.writer.open(match self.full {
            true => String::new(),
            false => {
                format!("if (c{axis} < (I)a.extent[{axis}] && c{vector} < (I)a.extent[{vector}])")
            }
        });
        address::bases(&mut body.writer, body.kernel, 0..body.kernel.grid_rank);
    }
}
