__kernel void store(__global uint *out, uint v) {
  if (get_local_id(0) == 0) out[get_group_id(0)] = v + get_group_id(0);
}
