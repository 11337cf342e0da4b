#pragma once
struct Animal {
	int number;
	__device__ explicit Animal(int n) : number(n) {}
	__device__ virtual int legs() const = 0;
	__device__ virtual ~Animal() {}
};
__device__ Animal *make_bird(int n);
__device__ Animal *make_fish(int n);
void count_legs(Animal **zoo, int *out, int n);
