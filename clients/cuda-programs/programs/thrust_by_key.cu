// thrust: sums and scans by key: words of a text are counted.
#include "check.h"
#include <map>
#include <string>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

int main() {
	std::string text;
	unsigned seed = 33;
	for (int i = 0; i < 1500; i++) text += 'a' + lcg(seed) % 20 * (lcg(seed) % 20) / 20;
	thrust::device_vector<char> letters(text.begin(), text.end());
	thrust::device_vector<int> ones(text.size(), 1), counts(26), running(text.size());
	thrust::device_vector<char> keys(26);
	thrust::sort(letters.begin(), letters.end());
	auto ends = thrust::reduce_by_key(letters.begin(), letters.end(), ones.begin(), keys.begin(), counts.begin());
	int kinds = ends.first - keys.begin();
	std::map<char, int> want;
	for (char c : text) want[c]++;
	bool ok = kinds == (int)want.size() && ends.second - counts.begin() == kinds;
	int k = 0;
	for (auto [c, count] : want) {
		ok &= k < kinds && keys[k] == c && counts[k] == count;
		k++;
	}
	thrust::inclusive_scan_by_key(letters.begin(), letters.end(), ones.begin(), running.begin());
	std::vector<int> r(text.size());
	thrust::copy(running.begin(), running.end(), r.begin());
	size_t at = 0;
	for (auto [c, count] : want)
		for (int i = 1; i <= count; i++) ok &= r[at++] == i;
	return verdict(ok);
}
