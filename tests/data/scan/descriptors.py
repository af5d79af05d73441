"""Circular buffers that Python creates: keywords, positions, helpers, members that are set later, views."""

import math

import ttnn

BATCH = 4
TILE_32x32 = ttnn.Tile((32, 32))


class Softmax:
    MASK_CB = 3
    DEPTH = BATCH // 2

    @staticmethod
    def op(input_tensor, output_tensor, mask=None, wide=False):
        """A docstring with ttnn.CBDescriptor(in it)."""
        data_format = ttnn.bfloat16
        tile_size = TILE_32x32.get_tile_size(data_format)
        small = ttnn.Tile((1, 32)).get_tile_size(ttnn.float32)
        num_tiles = input_tensor.shape[1] // 32

        in_cb, out_cb = 0, 16
        in_descriptor = ttnn.cb_descriptor_from_sharded_tensor(in_cb, input_tensor)
        out_descriptor = ttnn.cb_descriptor_from_sharded_tensor(
            out_cb, output_tensor, total_size=2 * tile_size
        )
        out_descriptor.format_descriptors[0].page_size = tile_size

        constant_format = ttnn.CBFormatDescriptor(
            buffer_index=1,
            data_format=data_format,
            page_size=tile_size,
        )
        constant = ttnn.CBDescriptor(
            total_size=Softmax.DEPTH * tile_size,  # two pages
            core_ranges=input_tensor.shard_spec().grid,
            format_descriptors=[constant_format],
        )
        both = ttnn.CBDescriptor(
            num_tiles * small,
            None,
            [ttnn.CBFormatDescriptor(4, ttnn.float32, small), ttnn.CBFormatDescriptor(5, ttnn.float32, small)],
        )
        cbs = [in_descriptor, out_descriptor, constant, both]

        if mask is not None:
            cbs.append(make_cb(Softmax.MASK_CB, min(num_tiles, 8), ttnn.bfloat8_b))
        else:
            cbs.append(make_cb(6, math.ceil(num_tiles / 2)))
        input_tensor.format_descriptors[0].page_size = 64  # not one that is created here
        scratch = ttnn.CBDescriptor()
        scratch.total_size = 1024 if wide else 512
        scratch.format_descriptors = [
            ttnn.CBFormatDescriptor(buffer_index=7, data_format=ttnn.uint32, page_size=64)
        ]
        cbs += [scratch]
        return cbs


def make_cb(index, pages, data_format=ttnn.bfloat16):
    page_size = ttnn.tile_size(data_format)
    return ttnn.CBDescriptor(
        total_size=pages * page_size,
        core_ranges=ttnn.CoreRangeSet([]),
        format_descriptors=[ttnn.CBFormatDescriptor(index, data_format, page_size)],
    )


def per_device(tensors):
    offset = 0
    for i, tensor in enumerate(tensors):
        offset += 32
        ttnn.cb_descriptor_from_sharded_tensor(i, tensor, address_offset=offset, total_size=offset)
    # ttnn.CBDescriptor(total_size=1) in a comment
    return [ttnn.CBDescriptor(64 * k, None, [ttnn.CBFormatDescriptor(k, ttnn.uint16, 64)]) for k in range(4)]
