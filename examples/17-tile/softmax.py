"""Writes softmax.tileirbc with cuTile Python, which needs no GPU for that: pip install cuda-tile==1.7.0; python softmax.py"""
import cuda.tile as ct
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, export_kernel

COLUMNS = 256


@ct.kernel
def softmax(x, y):
    row = ct.bid(0)
    t = ct.load(x, (row, 0), (1, COLUMNS), padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(t - ct.max(t, 1, keepdims=True))
    ct.store(y, (row, 0), e / ct.sum(e, 1, keepdims=True))


array = ArrayConstraint(ct.float32, 2, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=[],
                        may_alias_internally=False, stride_constant=[None, 1])
signature = KernelSignature([array, array], CallingConvention.cutile_python_v1(), symbol="softmax")
export_kernel(softmax, [signature], "softmax.tileirbc", output_format="tileir_bytecode", bytecode_version="13.3")
