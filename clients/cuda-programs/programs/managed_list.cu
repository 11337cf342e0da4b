// A linked list and a binary tree, built by the host in managed memory, walked by the device.
#include "check.h"
#include <new>

struct Managed {
	void *operator new(size_t n) {
		void *p;
		CHECK(cudaMallocManaged(&p, n));
		return p;
	}
	void operator delete(void *p) { cudaFree(p); }
};

struct Node : Managed {
	int key;
	int depth = -1;
	Node *left = nullptr, *right = nullptr, *next = nullptr;
	explicit Node(int k) : key(k) {}
};

__global__ void find(Node *root, Node *list) {
	// thread i takes the i-th of the list and looks for it in the tree
	Node *mine = list;
	for (int i = 0; i < threadIdx.x && mine; i++) mine = mine->next;
	if (!mine) return;
	int depth = 0;
	Node *n = root;
	while (n && n->key != mine->key) {
		n = mine->key < n->key ? n->left : n->right;
		depth++;
	}
	mine->depth = n ? depth : -2;
}

int main() {
	Node *root = nullptr, *list = nullptr;
	std::vector<Node *> all;
	std::vector<int> depths;
	unsigned seed = 5;
	for (int i = 0; i < 60; i++) {
		Node *n = new Node(lcg(seed) % 1000);
		Node **at = &root;
		int depth = 0;
		while (*at && (*at)->key != n->key) {
			at = n->key < (*at)->key ? &(*at)->left : &(*at)->right;
			depth++;
		}
		if (*at) { delete n; continue; }
		*at = n;
		n->next = list;
		list = n;
		all.push_back(n);
		depths.push_back(depth);
	}
	find<<<1, 64>>>(root, list);
	CHECK(cudaDeviceSynchronize());
	bool ok = all.size() > 50;
	for (size_t i = 0; i < all.size(); i++) ok &= all[i]->depth == depths[i];
	for (Node *n : all) delete n;
	return verdict(ok);
}
