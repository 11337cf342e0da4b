__global__ void wrong(float *x) {
	x[threadIdx.x] = undeclared;
}
